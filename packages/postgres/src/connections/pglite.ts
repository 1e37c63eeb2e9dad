import { requireOutside } from './handler-context.ts'
import { openOnPGlite, type PGliteLike } from './pglite-session.ts'
import { type Postgres, runIn, type SqlClient, storedValues } from './postgres.ts'

/**
 * Creates a `Postgres` from a PGlite, which is PostgreSQL inside this process. While a transaction is open, all other statements wait; one of the
 * handler of that transaction throws `TRANSACTION_REQUIRED`.
 */
export function fromPGlite(database: PGliteLike): Postgres {
  async function query(sql: string, params: readonly unknown[] = []) {
    requireOutside(self)
    return database.query(sql, [...params])
  }

  const self: Postgres = {
    isEmbedded: true,
    query: (sql, params) => storedValues(query(sql, params)),
    transaction: (work) => runIn(self.open({}), work),
    async open(opening) {
      requireOutside(self)
      return openOnPGlite(database, opening)
    },
    client: {
      async query(text, values) {
        const { rows, affectedRows } = await query(text, values)
        return { rows, rowCount: rows.length || (affectedRows ?? 0) }
      }
    } as SqlClient,
    async listen(channel, { onMessage }) {
      requireOutside(self)
      const end = await database.listen(channel, onMessage)
      return () => end()
    },
    // Its statements run in this process, so that the delay of the event loop includes the wait.
    isCongested: () => false,
    get background() {
      return self
    }
  }
  return self
}
