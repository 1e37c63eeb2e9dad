import type { Postgres } from './connections/postgres.ts'

const batch = 1000
const restMs = 10_000
const skipLocked = 'FOR UPDATE SKIP LOCKED'

/**
 * Creates a function that deletes one batch of expired rows in the background, at most every ten seconds, or at the next call if more rows are
 * left. `column` has the time of the end, and an index. The deletion is a separate statement that waits for no lock. If the statements that count also
 * deleted rows, two of them could deadlock.
 */
export function sweeper(database: Postgres, table: string, column: string, end: string): (...params: readonly unknown[]) => void {
  let sweepsAt = 0

  async function sweep(params: readonly unknown[]) {
    const expired = expiredRows(table, column, end, String(batch))
    const [count = 0] = await database.background.query<number>(
      `WITH over AS (DELETE FROM ${table} WHERE ${expired} RETURNING 1) SELECT count(*)::text AS json FROM over`,
      params
    )
    if (count === batch) sweepsAt = 0
  }

  return (...params) => {
    const now = performance.now()
    if (now < sweepsAt) return
    sweepsAt = now + restMs
    // The next sweep tries again. A failure of the database also reaches the caller that counts.
    sweep(params).catch(() => {})
  }
}

/**
 * Creates a function that deletes at most `maximum` rows whose `column`, which has an index, is before a time, and returns their number: 0 while another
 * process deletes rows of the table. To lock rows requires the right to update them, so a table whose rows never change sets `lock` to ''.
 */
export function retention(
  database: Postgres,
  table: string,
  column: string,
  type: string,
  lock = skipLocked
): (before: string, maximum: number) => Promise<number> {
  const deletion = retentionStatement(table, column, type, lock)
  return async (before, maximum) => (await database.background.query<number>(deletion, [before, maximum]))[0] ?? 0
}

/** Returns the statement of {@link retention}, whose values are the time and the maximum. */
export function retentionStatement(table: string, column: string, type: string, lock = skipLocked): string {
  const turn = `SELECT pg_try_advisory_xact_lock(hashtext('concordat retention'), hashtext('${table}')) AS is_mine`
  const old = expiredRows(table, column, `$1::${type}`, '$2::integer', lock)
  return `WITH turn AS MATERIALIZED (${turn}),
    gone AS (DELETE FROM ${table} WHERE (SELECT is_mine FROM turn) AND ${old} RETURNING 1)
    SELECT count(*)::text AS json FROM gone`
}

/**
 * Returns the condition of the rows to delete in one batch: those that ended first, without the locked ones. Their places in the table are found by the
 * order of an index, so that the planner has no other way: a scan of the table would read the rows that were deleted before them again and again.
 */
export function expiredRows(table: string, column: string, end: string, limit: string, lock = skipLocked): string {
  return `ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE ${column} < ${end} ORDER BY ${column} LIMIT ${limit} ${lock}))`
}
