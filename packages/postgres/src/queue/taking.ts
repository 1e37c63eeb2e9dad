import type { QueueParts } from './engine.ts'
import type { Slot } from './slots.ts'

interface Row {
  readonly id: string
  readonly data: { readonly payload: unknown; readonly trace?: string }
  readonly retryCount: number
}

/**
 * Takes at most `limit` jobs that are ready, and at most `perKey` of a key. pg-boss can limit the jobs of a key, but not the share of a part in them.
 */
export async function takeJobs(
  { boss, database, schema, name }: QueueParts,
  limit: number,
  perKey: number | undefined
): Promise<Slot['job'][]> {
  const rows =
    perKey === undefined
      ? await boss.fetch(name, { batchSize: limit, db: database.taking })
      : (await database.taking.executeSql(takingStatement(schema, name), [limit, perKey])).rows
  return (rows as readonly Row[]).map(({ id, data, retryCount }) => ({ id, ...data, attempt: retryCount + 1 }))
}

/**
 * The statement of pg-boss (`fetchNextJob`) for a queue without order, with its columns: `group_id` is the key, and `group_tier` its part. A part may have
 * one job more than twice as many as its key may still start. `$1` is the number of jobs, `$2` the maximum of a key.
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
        AND (job.group_id IS NULL OR (${ofKey} < $2 AND ${hasShare(`${ofPart} + 1`, `${ofKey} + 1`)}))
      ORDER BY job.priority DESC, job.created_on LIMIT $1 FOR UPDATE OF job SKIP LOCKED
    ),
    ranked AS (
      SELECT *, row_number() OVER (PARTITION BY group_id ORDER BY created_on, id) AS in_key,
        row_number() OVER (PARTITION BY group_id, group_tier ORDER BY created_on, id) AS in_part
      FROM next
    ),
    taken AS (
      SELECT id FROM ranked
      WHERE group_id IS NULL OR (of_key + in_key <= $2 AND ${hasShare('of_part + in_part', 'of_key + in_key')})
    )
    UPDATE ${schema}.job SET state = 'active', started_on = ${schema}.job_now(), heartbeat_on = ${schema}.job_now(),
      retry_count = CASE WHEN started_on IS NOT NULL THEN retry_count + 1 ELSE retry_count END
    WHERE name = ${literal} AND id = ANY (ARRAY(SELECT id FROM taken)) RETURNING id, data, retry_count AS "retryCount"`
}

/** Returns the condition that a part may start a job, by the number of jobs that it and its key have with it. */
function hasShare(part: string, key: string) {
  return `(group_tier IS NULL OR ${part} <= 2 * ($2 - (${key})) + 1)`
}

function partOf(row: string) {
  return `json_build_array(${row}group_id, ${row}group_tier)::text`
}
