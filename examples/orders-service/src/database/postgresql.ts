import { fromPool } from '@concordat/postgres'
import { Pool, type PoolClient, types } from 'pg'
import type { Database, Queries } from './database.ts'
import { isFailure, lostRace, unavailable } from './errors.ts'
import { withoutNulls } from './rows.ts'

const typeParsers = new Map<number, (text: string) => unknown>([
  [types.builtins.INT8, Number],
  [types.builtins.NUMERIC, String],
  [types.builtins.TIMESTAMPTZ, (text) => new Date(text).toISOString()]
])

const impatient = { connectionTimeoutMillis: 5_000, statement_timeout: 10_000, lock_timeout: 5_000, query_timeout: 15_000 }

/** A pool of connections to PostgreSQL. Connects on first use. */
export function openPostgreSQL(url: string, onError: (error: Error) => void, options?: { timeouts: 'none' }): Database {
  const pool = new Pool({
    connectionString: url,
    application_name: 'orders-service',
    max: options?.timeouts === 'none' ? 1 : 10,
    keepAlive: true,
    idle_in_transaction_session_timeout: 30_000,
    ...(options?.timeouts === 'none' ? { connectionTimeoutMillis: impatient.connectionTimeoutMillis } : impatient),
    types: { getTypeParser: (oid, format) => (format !== 'binary' && typeParsers.get(oid)) || types.getTypeParser(oid, format) }
  })

  async function connect() {
    const client = await pool.connect().catch((error: unknown) => {
      throw unavailable(error)
    })
    client.on('error', onError)
    return client
  }

  async function withClient<Result>(work: (queries: Queries, client: PoolClient) => Promise<Result>) {
    const client = await connect()
    let broken = false
    const queries: Queries = {
      async query<Row extends object>(sql: string, params?: readonly unknown[]) {
        try {
          return withoutNulls((await client.query<Row>(sql, params as unknown[] | undefined)).rows)
        } catch (error) {
          if (isFailure(error) || error instanceof TypeError) throw error
          // Neither the server's refusal nor our mistake: the connection is gone, or its answer is overdue.
          broken = true
          throw unavailable(error)
        }
      }
    }
    try {
      return await work(queries, client)
    } finally {
      client.off('error', onError)
      client.release(broken)
    }
  }

  function runTransaction<Result>(work: (transaction: Queries) => Promise<Result>) {
    return withClient(async (queries, client) => {
      await queries.query('BEGIN')
      try {
        const result = await work(queries)
        // After a failure that the work swallowed, PostgreSQL answers COMMIT by rolling back.
        const { command } = await client.query('COMMIT')
        if (command !== 'COMMIT') throw new Error('The transaction was rolled back: a failed statement in it was ignored.')
        return result
      } catch (error) {
        await queries.query('ROLLBACK').catch(onError)
        throw error
      }
    })
  }

  return {
    query: (sql, params) => withClient((queries) => queries.query(sql, params)),
    async transaction(work) {
      try {
        return await runTransaction(work)
      } catch (error) {
        if (lostRace(error)) return runTransaction(work)
        throw error
      }
    },
    postgres: fromPool(pool, { onError: (error) => onError(error as Error) }),
    close: () => pool.end()
  }
}
