import { fromPGlite, fromPool, migrate, type Postgres } from '@concordat/postgres'
import { postgresWebhookStore, webhookMigrations } from '@concordat/postgres/webhooks'
import { postgresWorkQueue } from '@concordat/postgres/work-queue'
import { startPGlite } from '@concordat/test-harness/pglite'
import webhooks, { type WebhooksOptions } from '@concordat/webhooks'
import Fastify, { type FastifyInstance } from 'fastify'
import { Pool } from 'pg'

/** The database of a service, and the certificate of its receivers. */
export interface Place {
  /** The URL of a server, the path of a folder, or `memory://`. */
  readonly where: string
  readonly schema: string
  readonly certificate: string
}

/** A service with webhooks on a database, ready to emit. */
export interface WebhookService {
  readonly app: FastifyInstance
  readonly database: Postgres
  close(): Promise<void>
}

export async function startWebhookService({ where, schema }: Place, options: Partial<WebhooksOptions> = {}): Promise<WebhookService> {
  const { database, queue, end } = where.startsWith('postgres:') ? onServer(where, schema) : await inFolder(where, schema)
  await migrate(database, webhookMigrations, { schema })
  const app = Fastify()
  await app.register(webhooks, {
    events: {
      'order.created': {
        description: 'An order was placed.',
        schema: { type: 'object', properties: { id: { type: 'string' }, text: { type: 'string' } } },
        example: { id: '1' }
      }
    },
    mayReceive: 'everyone',
    store: postgresWebhookStore(database, { schema }),
    queue,
    dangerouslyAllowLoopback: 'any-certificate',
    maxSubscriptions: 100_000,
    ...options
  })
  await app.ready()
  return {
    app,
    database,
    async close() {
      await app.close()
      await queue.close()
      await end()
    }
  }
}

function onServer(where: string, schema: string) {
  const pool = new Pool({ connectionString: where, max: 10 })
  return {
    database: fromPool(pool, { onError: warn }),
    queue: postgresWorkQueue(pool, { schema: `${schema}_queue`, onError: warn }),
    end: () => pool.end()
  }
}

async function inFolder(where: string, schema: string) {
  const pglite = await startPGlite(where)
  return {
    database: fromPGlite(pglite),
    queue: postgresWorkQueue(pglite, { schema: `${schema}_queue`, onError: warn }),
    end: () => pglite.close()
  }
}

function warn(error: unknown) {
  process.stderr.write(`${String(error)}\n`)
}
