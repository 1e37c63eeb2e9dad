import { parseRows, type Queries, type SqlClient } from './postgres.ts'
import type { Opened } from './session.ts'

/** Commits what the work did, or nothing of it when it throws. */
export async function runInSession<Result>(opening: Promise<Opened>, work: (transaction: SqlClient) => Promise<Result>): Promise<Result> {
  const { session } = await opening
  try {
    const result = await work({ query: (text: string, values: readonly unknown[] = []) => session.query(text, values) } as SqlClient)
    await session.commit()
    return result
  } catch (error) {
    await session.rollback()
    throw error
  }
}

/** The same for statements that answer one column of JSON. */
export function runIn<Result>(opening: Promise<Opened>, work: (queries: Queries) => Promise<Result>): Promise<Result> {
  return runInSession(opening, (transaction) =>
    work({ query: async (sql, params = []) => parseRows((await transaction.query(sql, [...params])).rows) })
  )
}
