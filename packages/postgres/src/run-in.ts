import { parseRows, type Queries, type SqlClient } from './postgres.ts'
import type { Opened } from './session.ts'

/** Runs the work in the transaction. Commits when it resolves, and rolls back when it throws. */
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

/** Does the same as {@link runInSession} for statements that return one column of JSON. */
export function runIn<Result>(opening: Promise<Opened>, work: (queries: Queries) => Promise<Result>): Promise<Result> {
  return runInSession(opening, (transaction) =>
    work({ query: async (sql, params = []) => parseRows((await transaction.query(sql, [...params])).rows) })
  )
}
