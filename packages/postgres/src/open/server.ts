import type { Pool as PgPool, PoolConfig } from 'pg'
import { fromPool } from '../pool.ts'
import { type OpenDatabase, queriesOf } from './opened.ts'
import type { OpenOptions } from './options.ts'
import { importPeers, importQueue } from './peers.ts'
import { explainingClient, impatient, startupParameters } from './startup-parameters.ts'

const connectionTimeoutMillis = 5_000
const queueConnections = 5
// Two that listen, one for the feed of revocations, and two for readiness checks and for deletions that may wait for a lock.
const backgroundConnections = 5

/**
 * Creates connection pools for a PostgreSQL server: one for the requests, one for the work besides them and one for the queue, so that none waits
 * for another. They connect on first use.
 */
export async function openServer(
  url: string,
  { applicationName, maxConnections = 10, onError, prepare }: OpenOptions
): Promise<OpenDatabase> {
  const { Client, Pool, types } = (await importPeers('openDatabase', 'pg', () => import('pg'))).default
  const parsers = new Map<number, (text: string) => unknown>([
    [types.builtins.INT8, Number],
    [types.builtins.NUMERIC, String],
    [types.builtins.TIMESTAMPTZ, (text) => new Date(text).toISOString()]
  ])
  const settings: PoolConfig = {
    connectionString: url,
    application_name: applicationName,
    keepAlive: true,
    connectionTimeoutMillis,
    ...startupParameters,
    Client: explainingClient(Client, url),
    types: { getTypeParser: (oid, format) => (format !== 'binary' && parsers.get(oid)) || types.getTypeParser(oid, format) }
  }

  function open(more: PoolConfig, background?: PgPool, maxWaitSeconds?: number): OpenDatabase {
    const pool = new Pool({ ...settings, ...more })
    return {
      ...queriesOf(fromPool(pool, { onError, background, maxWaitSeconds })),
      async openQueue(options) {
        const { postgresWorkQueue } = await importQueue()
        const own = new Pool({ ...settings, ...impatient, max: queueConnections })
        const queue = postgresWorkQueue(own, options)
        return { ...queue, close: (graceSeconds) => queue.close(graceSeconds).finally(() => own.end()) }
      },
      close: async () => void (await Promise.all([pool.end(), background?.end()]))
    }
  }

  if (prepare !== undefined) {
    // The migration of another process, or the creation of an index, may take longer than the timeouts of requests allow.
    const patient = open({ max: 1 }, undefined, 600)
    await prepare(patient).finally(() => patient.close())
  }
  return open({ ...impatient, max: maxConnections }, new Pool({ ...settings, ...impatient, max: backgroundConnections }))
}
