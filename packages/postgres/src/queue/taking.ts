import type { QueueParts } from './engine.ts'
import type { Slot } from './slots.ts'

interface Row {
  readonly id: string
  readonly data: { readonly payload: unknown; readonly trace?: string }
  readonly retryCount: number
}

/** The slots of a worker, and how many jobs of a key may run. */
interface Taking {
  readonly free: number
  readonly concurrency: number
  readonly perKey?: number | undefined
}

/**
 * Takes jobs that are ready for the free slots, and at most `perKey` of a key. pg-boss can limit the jobs of a key, but not the share of a part in them,
 * and not by what other keys have left.
 */
export async function takeJobs(
  { boss, database, schema, name }: QueueParts,
  { free, concurrency, perKey }: Taking
): Promise<Slot['job'][]> {
  const rows =
    perKey === undefined
      ? await boss.fetch(name, { batchSize: free, db: database.taking })
      : (await database.taking.executeSql(takingStatement(schema, name), [free, perKey, concurrency])).rows
  return (rows as readonly Row[]).map(({ id, data, retryCount }) => ({ id, ...data, attempt: retryCount + 1 }))
}

/**
 * The statement of pg-boss (`fetchNextJob`) for a queue without order, with its columns: `group_id` is the key, and `group_tier` its part. A key may have
 * as large a part of its maximum as the part of the slots that other keys do not use (decision 141). A part may have one job more than twice as many as its
 * key may still start. `$1` is the number of free slots, `$2` the maximum of a key, `$3` the number of all slots.
 */
function takingStatement(schema: string, name: string) {
  const literal = `'${name.replaceAll("'", "''")}'`
  // Read once, and looked up for each candidate: the planner cannot join them in a wrong order.
  const active = `FROM ${schema}.job WHERE name = ${literal} AND state = 'active' AND group_id IS NOT NULL`
  const counts = (columns: string, key: string) =>
    `SELECT COALESCE(jsonb_object_agg(${key}, count), '{}') AS counts FROM (SELECT ${columns}, count(*)::int AS count ${active} GROUP BY ${columns}) AS active`
  const ofKey = `COALESCE(((SELECT counts FROM keys) ->> job.group_id)::int, 0)`
  const ofPart = `COALESCE(((SELECT counts FROM parts) ->> ${partOf('job.')})::int, 0)`
  return `WITH keys AS MATERIALIZED (${counts('group_id', 'group_id')}),
    parts AS MATERIALIZED (${counts('group_id, group_tier', partOf(''))}),
    next AS (
      SELECT job.id, job.group_id, job.group_tier, job.created_on, ${ofKey} AS of_key, ${ofPart} AS of_part FROM ${schema}.job AS job
      WHERE job.name = ${literal} AND job.state < 'active' AND NOT job.blocked AND job.start_after <= ${schema}.job_now()
        AND (job.group_id IS NULL OR ${hasShare({ free: '$1', ofKey, ofPart, inKey: '1', inPart: '1' })})
      ORDER BY job.priority DESC, job.created_on LIMIT $1 FOR UPDATE OF job SKIP LOCKED
    ),
    ranked AS (
      SELECT *, row_number() OVER (ORDER BY created_on, id) AS in_all, row_number() OVER (PARTITION BY group_id ORDER BY created_on, id) AS in_key,
        row_number() OVER (PARTITION BY group_id, group_tier ORDER BY created_on, id) AS in_part
      FROM next
    ),
    taken AS (
      SELECT id FROM ranked
      WHERE group_id IS NULL OR ${hasShare({ free: '($1 - in_all + in_key)', ofKey: 'of_key', ofPart: 'of_part', inKey: 'in_key', inPart: 'in_part' })}
    )
    UPDATE ${schema}.job SET state = 'active', started_on = ${schema}.job_now(), heartbeat_on = ${schema}.job_now(),
      retry_count = CASE WHEN started_on IS NOT NULL THEN retry_count + 1 ELSE retry_count END
    WHERE name = ${literal} AND id = ANY (ARRAY(SELECT id FROM taken)) RETURNING id, data, retry_count AS "retryCount"`
}

/**
 * Returns the condition that a key and its part may start a job, by the number of jobs that they have and get before it, with it, and the slots that are free
 * for the key.
 */
function hasShare({ free, ofKey, ofPart, inKey, inPart }: Readonly<Record<'free' | 'ofKey' | 'ofPart' | 'inKey' | 'inPart', string>>) {
  const share = `($2::bigint * LEAST($3, ${free} + ${ofKey}) + $3 - 1) / $3`
  const left = `${share} - ${ofKey} - ${inKey}`
  return `(${left} >= 0 AND (group_tier IS NULL OR ${ofPart} + ${inPart} <= 2 * (${left}) + 1))`
}

function partOf(row: string) {
  return `json_build_array(${row}group_id, ${row}group_tier)::text`
}
