import { readFileSync } from 'node:fs'
import idempotency from '@concordat/idempotency'
import { idempotencyStoreContract } from '@concordat/idempotency/testing'
import { jobStoreContract } from '@concordat/jobs/testing'
import { migrate } from '@concordat/postgres'
import { type OpenDatabase, openDatabase } from '@concordat/postgres/open'
import { postgresStores, storeMigrations } from '@concordat/postgres/stores'
import unitOfWork from '@concordat/postgres/unit-of-work'
import { casesOf } from '@concordat/test-harness/contract-cases'
import { onPgBouncer, startPgBouncer } from '@concordat/test-harness/pgbouncer'
import { webhookStoreContract } from '@concordat/webhooks/testing'
import Fastify from 'fastify'
import { Client } from 'pg'
import t, { type Test } from 'tap'
import { schemaName, server } from './database.ts'

// The remedy that the documentation names.
const page = readFileSync(new URL('../../../docs/postgres.md', import.meta.url), 'utf8')
const documented = /ignore_startup_parameters = (.+)/.exec(page)?.[1] ?? ''

/** Starts PgBouncer in front of a separate database, and returns the URL of both. */
async function bouncer(t: Test, ignored: string) {
  const name = schemaName()
  const admin = new Client({ connectionString: server })
  await admin.connect()
  await admin.query(`CREATE DATABASE ${name}`)
  const direct = Object.assign(new URL(server), { pathname: `/${name}` }).href
  const pooled = await startPgBouncer(direct, ignored)
  t.teardown(async () => {
    await pooled.stop()
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`)
    await admin.end()
  })
  return { direct, url: pooled.url }
}

async function open(t: Test, url: string, prepare?: (database: OpenDatabase) => Promise<void>) {
  const database = await openDatabase({ url, ...(prepare && { prepare }) })
  t.teardown(() => database.close())
  return database
}

t.test('a PgBouncer that refuses the startup parameters causes one line with the remedy, at start and later', onPgBouncer, async (t) => {
  const { url } = await bouncer(t, 'extra_float_digits')
  const message = new RegExp(
    `^postgres: PgBouncer refuses the startup parameter \\w+\\. Set ignore_startup_parameters = ${documented} in its configuration, and these settings for the role with ALTER ROLE\\.$`
  )
  await t.rejects(openDatabase({ url, prepare: ({ postgres }) => migrate(postgres, storeMigrations) }), { message, code: '08P01' })
  const database = await open(t, url)
  for (let attempt = 0; attempt < 2; attempt += 1)
    await t.rejects(database.query('SELECT 1'), { code: 'SERVICE_UNAVAILABLE', cause: { message } })
  await t.rejects(database.check(), { cause: { message } })
  const queue = await database.openQueue()
  t.teardown(() => queue.close(0))
  await t.rejects(queue.define('greetings'), { message })
})

t.test('everything works behind a PgBouncer in transaction mode that ignores the startup parameters', onPgBouncer, async (t) => {
  const { url, direct } = await bouncer(t, documented)
  await open(t, direct, ({ postgres }) => migrate(postgres, storeMigrations))
  const database = await open(t, url, ({ postgres }) => migrate(postgres, storeMigrations))
  const stores = postgresStores(database.postgres)
  t.teardown(() => stores.idempotency.close?.())

  await t.test('idempotency keys', async (t) => idempotencyStoreContract(casesOf(t, 8), () => stores.idempotency))
  await t.test('jobs', async (t) => jobStoreContract(casesOf(t), () => stores.jobs))
  await t.test('webhooks', async (t) => webhookStoreContract(casesOf(t), () => stores.webhooks))

  await t.test('a queue', async (t) => {
    const queue = await database.openQueue()
    t.teardown(() => queue.close(0))
    await queue.define('greetings')
    const payloads: unknown[] = []
    const done = Promise.withResolvers<void>()
    async function greet({ payload }: { readonly payload: unknown }) {
      if (payloads.push(payload) === 20) done.resolve()
      return { done: true } as const
    }
    queue.work('greetings', greet, { concurrency: 10 })
    await database.postgres.transaction(async () => {})
    await queue.enqueue(
      'greetings',
      Array.from({ length: 20 }, (_, payload) => ({ payload }))
    )
    await done.promise
    t.strictSame(
      payloads.toSorted((a, b) => Number(a) - Number(b)),
      Array.from({ length: 20 }, (_, payload) => payload)
    )
  })

  await t.test('transactions with keys: concurrent requests with one key run the handler once, and a failure rolls back', async (t) => {
    await database.query('CREATE TABLE orders (id integer GENERATED ALWAYS AS IDENTITY)')
    const app = Fastify({ handlerTimeout: 30_000 })
    t.teardown(() => app.close())
    await app.register(unitOfWork, { database: database.postgres })
    await app.register(idempotency, {
      scope: () => 'a client',
      store: stores.idempotency,
      waitSeconds: 20
    })
    app.post<{ Querystring: { fails?: string } }>(
      '/orders',
      { config: { transaction: true, idempotency: 'required' } },
      async ({ transaction, query }, reply) => {
        const { rows } = await transaction.query('INSERT INTO orders DEFAULT VALUES RETURNING id')
        if (query.fails !== undefined) throw new Error('No.')
        return reply.code(201).send(rows[0])
      }
    )
    const post = (key: string, url = '/orders') => app.inject({ method: 'POST', url, headers: { 'idempotency-key': key }, payload: {} })
    const keys = Array.from({ length: 8 }, (_, index) => `key-${index}-aaaaaaaaaaaaaaaa`)
    const responses = await Promise.all(keys.flatMap((key) => [post(key), post(key), post(key)]))
    t.strictSame(new Set(responses.map(({ statusCode }) => statusCode)), new Set([201]))
    t.equal(new Set(responses.map(({ body }) => body)).size, 8)
    t.equal((await post('key-fails-aaaaaaaaaaaa', '/orders?fails')).statusCode, 500)
    t.strictSame(await database.query('SELECT count(*)::integer AS count FROM orders'), [{ count: 8 }])
  })
})
