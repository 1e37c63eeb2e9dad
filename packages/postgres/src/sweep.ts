import type { Postgres } from './postgres.ts'

const batch = 1000
const restMs = 10_000

/**
 * Creates a function that deletes one batch of expired rows in the background, at most every ten seconds, or at the next call if more rows are
 * left. The deletion is a separate statement that waits for no lock. If the statements that count also deleted rows, two of them could deadlock. A
 * lock requires the right to update rows, so a table whose rows never change sets none.
 */
export function sweeper(
  database: Postgres,
  table: string,
  condition: string,
  lock: 'FOR UPDATE SKIP LOCKED' | '' = 'FOR UPDATE SKIP LOCKED'
): (...params: readonly unknown[]) => void {
  let sweepsAt = 0

  async function sweep(params: readonly unknown[]) {
    // By their place in the table: the planner could join the keys with a scan of the whole table.
    const [count = 0] = await database.background.query<number>(
      `WITH over AS (
        DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE ${condition} LIMIT ${batch} ${lock})) RETURNING 1
      )
      SELECT count(*)::text AS json FROM over`,
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
