import { parseRows, type Queries } from './postgres.ts'
import type { Opened } from './session.ts'

/** Commits what the work did, or nothing of it when it throws. */
export async function runIn<Result>(opening: Promise<Opened>, work: (queries: Queries) => Promise<Result>): Promise<Result> {
  const { session } = await opening
  try {
    const result = await work({ query: async (sql, params = []) => parseRows((await session.query(sql, params)).rows) })
    await session.commit()
    return result
  } catch (error) {
    await session.rollback()
    throw error
  }
}
