import { requirePeers } from '@concordat/plugin-kit/options'
import type { Pool as PgPool, PoolConfig } from 'pg'
import { fromPool } from '../connections/pool.ts'
import { columnParsers } from './column-parsers.ts'
import { type OpenDatabase, queriesOf } from './opened.ts'
import type { OpenSettings } from './options.ts'
import { openQueueIn } from './peers.ts'
import { clientClass } from './server-client.ts'

// The settings with which each connection begins. PgBouncer refuses them, unless it is configured to ignore them.
const startupParameters: PoolConfig = {
  idle_in_transaction_session_timeout: 30_000,
  connectionTimeoutMillis: 5_000,
  // The server ends the statement of a killed process, and with it the claim of its idempotency key. Times have the form that the parsers of columns read,
  // and a `timestamp` is in UTC for each statement, as on PGlite.
  options: '-c client_connection_check_interval=250 -c TimeZone=UTC -c DateStyle=ISO'
}

// Longer than the timeout of a statement, after which a server that works has responded.
const maxSilenceMs = 15_000

const queueConnections = 6
// Two that listen, one for the feed of revocations, and two for readiness checks and for deletions that may wait for a lock.
const backgroundConnections = 5

/** Creates connection pools for the requests, the work besides them and the queue, so that none waits for another. They connect on first use. */
export async function openServer(url: string, { maxConnections, onError, prepare, tenantSetting }: OpenSettings): Promise<OpenDatabase> {
  requirePeers('postgres: openDatabase', [tenantSetting === undefined ? 'pg@8.12' : 'pg@8.23'], import.meta)
  const { Client, Pool, types } = (await import('pg')).default
  // For requests, a queue and work in the background.
  const impatient = settings({ statement_timeout: 10_000, lock_timeout: 5_000, connectionTimeoutMillis: 2_000 }, maxSilenceMs)

  // The last one is a setting of this process.
  function settings(more: PoolConfig, silenceMs?: number): PoolConfig {
    const parsers = columnParsers()
    const getTypeParser: typeof types.getTypeParser = (oid, format) =>
      format === 'binary' ? types.getTypeParser(oid, format) : parsers.of(oid)
    const own = { Client: clientClass(Client, url, parsers, silenceMs), types: { getTypeParser } }
    return { connectionString: url, keepAlive: true, pipeline: tenantSetting !== undefined, ...startupParameters, ...more, ...own }
  }

  function open(config: PoolConfig, background?: PgPool, maxWaitSeconds?: number): OpenDatabase {
    const pool = new Pool(config)
    return {
      ...queriesOf(fromPool(pool, { onError, background, maxWaitSeconds, tenantSetting })),
      async openQueue(options) {
        const own = new Pool({ ...impatient, max: queueConnections })
        const queue = await openQueueIn(own, options)
        return { ...queue, close: (graceSeconds) => queue.close(graceSeconds).finally(() => own.end()) }
      },
      close: async () => void (await Promise.all([pool.end(), background?.end()]))
    }
  }

  if (prepare !== undefined) {
    // The migration of another process, or the creation of an index, may take longer than the timeouts of requests allow.
    const patient = open(settings({ max: 1 }), undefined, 600)
    await prepare(patient).finally(() => patient.close())
  }
  return open({ ...impatient, max: maxConnections }, new Pool({ ...impatient, max: backgroundConnections }))
}
