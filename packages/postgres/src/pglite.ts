import { type Postgres, parseRows } from './postgres.ts'

interface PGliteQueries {
  query(sql: string, params?: unknown[]): Promise<{ readonly rows: unknown[] }>
}

/** A PGlite, as far as it is used here. */
export interface PGliteLike extends PGliteQueries {
  transaction<Result>(work: (transaction: PGliteQueries) => Promise<Result>): Promise<Result>
  listen(channel: string, heard: () => void): Promise<() => Promise<void>>
}

/** A database by PGlite, PostgreSQL inside this process. It has one connection: while a transaction is open, everything else waits. */
export function fromPGlite(database: PGliteLike): Postgres {
  return {
    query: async (sql, params = []) => parseRows((await database.query(sql, [...params])).rows),
    transaction: (work) =>
      database.transaction((transaction) =>
        work({ query: async (sql, params = []) => parseRows((await transaction.query(sql, [...params])).rows) })
      ),
    async listen(channel, { heard }) {
      const end = await database.listen(channel, heard)
      return () => end()
    }
  }
}
