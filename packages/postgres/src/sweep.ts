import type { Postgres } from './postgres.ts'

const batch = 1000
const restMs = 10_000
const skipLocked = 'FOR UPDATE SKIP LOCKED'

/**
 * Creates a function that deletes one batch of expired rows in the background, at most every ten seconds, or at the next call if more rows are
 * left. `column` has the time of the end, and an index. The deletion is a separate statement that waits for no lock. If the statements that count also
 * deleted rows, two of them could deadlock. To lock rows requires the right to update them, so a table whose rows never change sets `lock` to ''.
 */
export function sweeper(
  database: Postgres,
  table: string,
  column: string,
  end: string,
  lock = skipLocked
): (...params: readonly unknown[]) => void {
  let sweepsAt = 0

  async function sweep(params: readonly unknown[]) {
    const expired = expiredRows(table, column, end, String(batch), lock)
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
 * Returns the condition of the rows to delete in one batch: those that ended first, without the locked ones. Their places in the table are found by the
 * order of an index, so that the planner has no other way: a scan of the table would read the rows that were deleted before them again and again.
 */
export function expiredRows(table: string, column: string, end: string, limit: string, lock = skipLocked): string {
  return `ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE ${column} < ${end} ORDER BY ${column} LIMIT ${limit} ${lock}))`
}
