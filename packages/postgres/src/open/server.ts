import type { Client as PgClient, Pool as PgPool, PoolConfig } from 'pg'
import { fromPool } from '../pool.ts'
import { type OpenDatabase, parsers, queriesOf } from './opened.ts'
import type { OpenSettings } from './options.ts'
import { importPeers, openQueueIn } from './peers.ts'

// The settings with which each connection begins. PgBouncer refuses them, unless it is configured to ignore them.
const startupParameters: PoolConfig = {
  idle_in_transaction_session_timeout: 30_000,
  connectionTimeoutMillis: 5_000,
  // The server ends the statement of a killed process, and with it the claim of its idempotency key.
  options: '-c client_connection_check_interval=250'
}

// For requests, a queue and work in the background. The last two are settings of this process.
const impatient: PoolConfig = {
  statement_timeout: 10_000,
  lock_timeout: 5_000,
  query_timeout: 15_000,
  connectionTimeoutMillis: 2_000
}

const ignored = 'options, client_connection_check_interval, idle_in_transaction_session_timeout, statement_timeout, lock_timeout'

const queueConnections = 5
// Two that listen, one for the feed of revocations, and two for readiness checks and for deletions that may wait for a lock.
const backgroundConnections = 5

/** Creates connection pools for the requests, the work besides them and the queue, so that none waits for another. They connect on first use. */
export async function openServer(url: string, { maxConnections, onError, prepare }: OpenSettings): Promise<OpenDatabase> {
  const { Client, Pool, types } = (await importPeers('openDatabase', 'pg', () => import('pg'))).default
  const settings: PoolConfig = {
    connectionString: url,
    keepAlive: true,
    ...startupParameters,
    Client: explainingClient(Client, url),
    types: { getTypeParser: (oid, format) => (format !== 'binary' && parsers[oid]) || types.getTypeParser(oid, format) }
  }

  function open(more: PoolConfig, background?: PgPool, maxWaitSeconds?: number): OpenDatabase {
    const pool = new Pool({ ...settings, ...more })
    return {
      ...queriesOf(fromPool(pool, { onError, background, maxWaitSeconds })),
      async openQueue(options) {
        const own = new Pool({ ...settings, ...impatient, max: queueConnections })
        const queue = await openQueueIn(own, options)
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

type Connected = Parameters<PgClient['connect']>[0]

// The error of this client names the remedy when PgBouncer refuses the startup parameters.
function explainingClient(Base: typeof PgClient, url: string): typeof PgClient {
  return class extends Base {
    override connect(): Promise<PgClient>
    override connect(done: Connected): void
    // A pool always passes a callback.
    override connect(done?: Connected): Promise<PgClient> | undefined {
      super.connect((error: Error) => (done as (error: Error) => void)(explained(error, url)))
      return undefined
    }
  }
}

function explained(error: Error, url: string) {
  // Absent after a success.
  const refused = /unsupported startup parameter\D*: (\w+)/.exec(error?.message)?.[1]
  if (refused !== undefined)
    error.message = `postgres: PgBouncer refuses the startup parameter ${refused}. Set ignore_startup_parameters = ${ignored} in its configuration, and these settings for the role with ALTER ROLE.`
  const missing = error && isAboutCredentials(error) && missingIn(url)
  if (missing)
    error.message = `${error.message.replace(/\.$/, '')}. The URL of the database has no ${missing}. Write it as postgres://user:password@host:5432/database.`
  return error
}

// 28000 and 28P01 are of the server. Without a password, `pg` fails before it sends one.
function isAboutCredentials({ code, message }: Error & { readonly code?: unknown }) {
  return String(code).startsWith('28') || message.includes('password must be a string')
}

// PGUSER and PGPASSWORD replace what the URL lacks.
function missingIn(url: string) {
  if (!URL.canParse(url)) return undefined
  const { username, password, searchParams } = new URL(url)
  if (username === '' && !searchParams.has('user') && !process.env['PGUSER']) return 'user'
  return password === '' && !searchParams.has('password') && !process.env['PGPASSWORD'] ? 'password' : undefined
}
