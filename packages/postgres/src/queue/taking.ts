import type { QueueParts } from './engine.ts'
import type { Slot } from './slots.ts'

interface Row {
  readonly id: string
  readonly data: { readonly payload: unknown; readonly trace?: string }
  readonly retryCount: number
  /** A hash of the key. Numbers need no quotes in the text of the statement. */
  readonly key?: number | null
}

/** A row of the statement: a job that was taken, if any, and the number of those that could be. */
type Counted = { readonly candidates: number } & (Row | { readonly id: null })

/** The slots of a worker, and how many jobs of a key may run. */
interface Taking {
  readonly free: number
  readonly concurrency: number
  readonly perKey?: number | undefined
}

/** How many of the newest jobs that are ready are searched for keys whose turn it is. */
const searchedForTurns = 2000
const keysRememberedAtMost = 200

/**
 * Creates the function that takes jobs that are ready for the free slots, and at most `perKey` of a key. pg-boss can limit the jobs of a key, but not the
 * share of a part in them, and not by what other keys have left. It takes the oldest; while more are ready than slots are free, the keys take turns with
 * every other call, so that the jobs of one key do not wait for all older jobs of the others (decision 141).
 */
export function jobTaker({ boss, database, schema, name }: QueueParts) {
  const [byAge, inTurn] = [takingStatement(schema, name, false), takingStatement(schema, name, true)]
  /** The keys of the jobs that were taken, the last one at the end. */
  const served = new Set<number>()
  let isTurn = false
  let isBehind = false

  function remember(keys: readonly number[]) {
    for (const key of keys) {
      served.delete(key)
      served.add(key)
    }
    for (const first of served) {
      if (served.size <= keysRememberedAtMost) break
      served.delete(first)
    }
  }

  async function taken({ free, concurrency, perKey }: Taking): Promise<readonly Row[]> {
    if (perKey === undefined) return boss.fetch(name, { batchSize: free, db: database.taking }) as Promise<Row[]>
    isTurn = isBehind && !isTurn
    const values = [free, perKey, concurrency]
    const result = await database.taking.executeSql(isTurn ? inTurn : byAge, isTurn ? [...values, [...served]] : values)
    const [first, ...others] = result.rows as [Counted, ...Counted[]]
    isBehind = isTurn || first.candidates === free
    const rows = first.id === null ? [] : ([first, ...others] as Row[])
    remember(rows.flatMap(({ key }) => key ?? []))
    return rows
  }

  /** Returns the jobs, and whether more may be ready. */
  return async (taking: Taking): Promise<{ readonly jobs: Slot['job'][]; readonly mayHaveMore: boolean }> => {
    const jobs = (await taken(taking)).map(({ id, data, retryCount }) => ({ id, ...data, attempt: retryCount + 1 }))
    return { jobs, mayHaveMore: isTurn || jobs.length > 0 }
  }
}

/**
 * The statement of pg-boss (`fetchNextJob`) for a queue without order, with its columns: `group_id` is the key, and `group_tier` its part. A key may have
 * as large a part of its maximum as the part of the slots that other keys do not use (decision 141). A part may have one job more than twice as many as its
 * key may still start. `$1` is the number of free slots, `$2` the maximum of a key, `$3` the number of all slots. In turn, it takes one job of each key
 * among the newest, of those in `$4` last, the most recently served at the end.
 */
function takingStatement(schema: string, name: string, inTurn: boolean) {
  const literal = `'${name.replaceAll("'", "''")}'`
  // Read once, and looked up for each candidate: the planner cannot join them in a wrong order.
  const active = `FROM ${schema}.job WHERE name = ${literal} AND state = 'active' AND group_id IS NOT NULL`
  const counts = (columns: string, key: string) =>
    `SELECT COALESCE(jsonb_object_agg(${key}, count), '{}') AS counts FROM (SELECT ${columns}, count(*)::int AS count ${active} GROUP BY ${columns}) AS active`
  const ofKey = `COALESCE(((SELECT counts FROM keys) ->> job.group_id)::int, 0)`
  const ofPart = `COALESCE(((SELECT counts FROM parts) ->> ${partOf('job.')})::int, 0)`
  const ready = `job.name = ${literal} AND job.state < 'active' AND NOT job.blocked AND job.start_after <= ${schema}.job_now()`
  const mayStart = `(job.group_id IS NULL OR ${hasShare({ free: '$1', ofKey, ofPart, inKey: '1', inPart: '1' })})`
  const firstOfEachKey = `SELECT DISTINCT ON (group_id) id, group_id, created_on FROM (
      SELECT id, group_id, group_tier, created_on FROM ${schema}.job AS job WHERE ${ready} ORDER BY priority, created_on DESC LIMIT ${searchedForTurns}
    ) AS job WHERE ${mayStart} ORDER BY group_id, created_on`
  const turns = `job.id = ANY (ARRAY(
      SELECT id FROM (${firstOfEachKey}) AS first ORDER BY array_position(ARRAY[$4]::int[], hashtext(group_id)) NULLS FIRST, created_on LIMIT $1
    ))`
  return `WITH keys AS MATERIALIZED (${counts('group_id', 'group_id')}),
    parts AS MATERIALIZED (${counts('group_id, group_tier', partOf(''))}),
    next AS (
      SELECT job.id, job.group_id, job.group_tier, job.created_on, ${ofKey} AS of_key, ${ofPart} AS of_part FROM ${schema}.job AS job
      WHERE ${ready} AND ${inTurn ? turns : mayStart}
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
    ),
    started AS (
      UPDATE ${schema}.job SET state = 'active', started_on = ${schema}.job_now(), heartbeat_on = ${schema}.job_now(),
        retry_count = CASE WHEN started_on IS NOT NULL THEN retry_count + 1 ELSE retry_count END
      WHERE name = ${literal} AND id = ANY (ARRAY(SELECT id FROM taken)) RETURNING id, data, retry_count AS "retryCount", hashtext(group_id) AS key
    )
    SELECT started.*, candidates.count AS candidates FROM (SELECT count(*)::int FROM next) AS candidates LEFT JOIN started ON true`
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
