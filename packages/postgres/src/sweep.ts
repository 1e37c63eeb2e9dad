import type { Postgres } from './postgres.ts'

const batch = 1000
const restMs = 10_000

interface SweepOptions {
  /** The columns of the primary key. */
  readonly key?: string | undefined
  /** How the rows are locked before they are deleted. A lock requires the right to update rows, so a table whose rows never change has none. */
  readonly lock?: 'FOR UPDATE SKIP LOCKED' | '' | undefined
}

/**
 * Creates a function that deletes one batch of expired rows in the background, at most every ten seconds, or at the next call if more rows are
 * left. The deletion is a separate statement that waits for no lock. If the statements that count also deleted rows, two of them could deadlock.
 */
export function sweeper(
  database: Postgres,
  table: string,
  condition: string,
  { key = 'key', lock = 'FOR UPDATE SKIP LOCKED' }: SweepOptions = {}
): (...params: readonly unknown[]) => void {
  let sweepsAt = 0

  async function sweep(params: readonly unknown[]) {
    const [count = 0] = await database.background.query<number>(
      `WITH over AS (
        DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE ${condition} LIMIT ${batch} ${lock}) RETURNING 1
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
