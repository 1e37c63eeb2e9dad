import { fromPool } from '@concordat/postgres'
import { postgresQueue } from '@concordat/postgres/work-queue'
import { Pool, type PoolConfig, types } from 'pg'
import type { Database } from './database.ts'
import { queriesOn } from './queries.ts'

const typeParsers = new Map<number, (text: string) => unknown>([
  [types.builtins.INT8, Number],
  [types.builtins.NUMERIC, String],
  [types.builtins.TIMESTAMPTZ, (text) => new Date(text).toISOString()]
])

const impatient = { connectionTimeoutMillis: 5_000, statement_timeout: 10_000, lock_timeout: 5_000, query_timeout: 15_000 }

/**
 * Opens connections to PostgreSQL: one pool for requests and one for the queue, so that neither waits for the other. They connect on
 * first use.
 */
export function openPostgreSQL(url: string, onError: (error: unknown) => void, options?: { timeouts: 'none' }): Database {
  const settings: PoolConfig = {
    connectionString: url,
    application_name: 'orders-service',
    keepAlive: true,
    idle_in_transaction_session_timeout: 30_000,
    // The server ends the statement of a killed process, and with it the claim of its idempotency key.
    options: '-c client_connection_check_interval=250',
    ...(options?.timeouts === 'none' ? { connectionTimeoutMillis: impatient.connectionTimeoutMillis } : impatient),
    types: { getTypeParser: (oid, format) => (format !== 'binary' && typeParsers.get(oid)) || types.getTypeParser(oid, format) }
  }
  const pool = new Pool({ ...settings, max: options?.timeouts === 'none' ? 1 : 10 })
  const postgres = fromPool(pool, { onError })
  return {
    ...queriesOn(postgres.client),
    postgres,
    openQueue(queueOptions) {
      const own = new Pool({ ...settings, max: 5 })
      const queue = postgresQueue(own, queueOptions)
      return { ...queue, close: (graceSeconds) => queue.close(graceSeconds).finally(() => own.end()) }
    },
    close: () => pool.end()
  }
}
