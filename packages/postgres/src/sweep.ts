import type { Queries } from './postgres.ts'

const batch = 1000
const restMilliseconds = 10_000

/**
 * Makes the function that deletes rows which are over, beside what its caller does: a batch every ten seconds, the next at once when
 * there was more. A statement of its own, which waits for no lock: deleted by the statements that count, rows of two of them could wait
 * for each other.
 */
export function sweeper(database: Queries, table: string, condition: string): (...params: readonly unknown[]) => void {
  let sweepsAt = 0

  async function sweep(params: readonly unknown[]) {
    const [count = 0] = await database.query<number>(
      `WITH over AS (
        DELETE FROM ${table} WHERE key IN (SELECT key FROM ${table} WHERE ${condition} LIMIT ${batch} FOR UPDATE SKIP LOCKED) RETURNING 1
      )
      SELECT count(*)::text AS json FROM over`,
      params
    )
    if (count === batch) sweepsAt = 0
  }

  return (...params) => {
    const now = performance.now()
    if (now < sweepsAt) return
    sweepsAt = now + restMilliseconds
    // The next one tries again; what ails the database, whoever counts is told.
    sweep(params).catch(() => {})
  }
}
