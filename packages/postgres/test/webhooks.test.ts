import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { fromPGlite, migrate, type Postgres } from '@concordat/postgres'
import { postgresWebhookStore, webhookMigrations } from '@concordat/postgres/webhooks'
import { postgresWorkQueue } from '@concordat/postgres/work-queue'
import { casesOf } from '@concordat/test-harness/contract-cases'
import { scaled } from '@concordat/test-harness/scale'
import { until } from '@concordat/test-harness/until'
import webhooks, { type WebhooksOptions } from '@concordat/webhooks'
import { webhookStoreContract } from '@concordat/webhooks/testing'
import type { WorkQueue } from '@concordat/work-queue'
import type { PGlite } from '@electric-sql/pglite'
import Fastify from 'fastify'
import { generate } from 'selfsigned'
import t, { type Test } from 'tap'
import { connect, freshSchema, inMemory, onServer, schemaName } from './database.ts'

const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], {
  keyType: 'ec',
  extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }]
})

t.test('the store of webhooks on PostgreSQL', onServer, async (t) => {
  const schema = freshSchema(t)
  const { database } = connect(t)
  await migrate(database, webhookMigrations, { schema })
  webhookStoreContract(casesOf(t), () => postgresWebhookStore(database, { schema }))
})

t.test('the store of webhooks on PGlite', async (t) => {
  const { database, schema } = await inMemory()
  await migrate(database, webhookMigrations, { schema })
  webhookStoreContract(casesOf(t), () => postgresWebhookStore(database, { schema }))
})

t.test('delivers an event if the transaction of its emitter is committed, and never otherwise, on PGlite', async (t) => {
  const { url, seen } = await startReceiver(t)
  const { pglite, schema } = await inMemory()
  const { app } = await serviceOf(t, fromPGlite(pglite), postgresWorkQueue(pglite, { schema: schemaName() }), schema)
  const { id } = await app.webhooks.subscribe('ada', { url, eventTypes: ['order.created'] })
  const emit = async (number: number, isRolledBack: boolean) =>
    pglite.transaction(async (transaction) => {
      await app.webhooks.emit('order.created', { number }, { transaction })
      if (isRolledBack) throw new Error('rolled back')
    })
  await t.rejects(emit(1, true), /rolled back/)
  await emit(2, false)
  await until(() => seen.length > 0)
  await until(async () => (await app.webhooks.deliveries('ada', id, { limit: 9, status: 'delivered' })).length === 1)
  t.match(seen, [{ data: { number: 2 } }])
  const [delivery] = await app.webhooks.deliveries('ada', id, { limit: 9 })
  t.match(await app.webhooks.attempts('ada', id, delivery?.id ?? '', { limit: 9 }), [{ number: 1, statusCode: 204 }])
})

t.test('sends each delivery once when processes emit the same events and share the deliveries, on PostgreSQL', onServer, async (t) => {
  const { url, seen } = await startReceiver(t)
  const [schema, queues] = [freshSchema(t), freshSchema(t)]
  const services = await Promise.all([1, 2, 3].map(async () => onPool(t, schema, queues)))
  const [{ app, database }] = services as [(typeof services)[0]]
  for (const owner of ['ada', 'bob']) await app.webhooks.subscribe(owner, { url, eventTypes: ['order.created'] })
  const numbers = Array.from({ length: scaled(20, 100) }, (_, number) => number)
  const emitted = await Promise.all(
    numbers.flatMap((number) =>
      services.map(async (one) => (await one.app.webhooks.emit('order.created', { number }, { id: `event-${number}` })).deliveries)
    )
  )
  t.equal(
    emitted.reduce((sum, deliveries) => sum + deliveries, 0),
    2 * numbers.length
  )
  // When the queue is empty, no delivery can be sent a second time.
  const unfinished = `SELECT count(*)::text AS json FROM ${queues}.job WHERE state IN ('created', 'retry', 'active')`
  await until(async () => seen.length >= 2 * numbers.length && (await database.query<number>(unfinished))[0] === 0)
  t.strictSame(
    seen.map(({ data }) => data.number).toSorted((a, b) => a - b),
    numbers.flatMap((number) => [number, number])
  )
})

t.test('the probe of one process starts what waits for a receiver in all, in order, on PostgreSQL', onServer, async (t) => {
  let failures = 0
  const { url, seen } = await startReceiver(t, () => (failures++ < 12 ? 503 : 204))
  const [schema, queues] = [freshSchema(t), freshSchema(t)]
  const scheduleSeconds = [0, 3600]
  const services = await Promise.all([1, 2].map(async () => onPool(t, schema, queues, { scheduleSeconds })))
  const [{ app }] = services as [(typeof services)[0]]
  const ids: string[] = []
  for (const ordered of [true, true, false])
    ids.push((await app.webhooks.subscribe('ada', { url, eventTypes: ['order.created'], ordered })).id)
  for (let number = 0; number < 30; number += 1) await app.webhooks.emit('order.created', { number })
  await until(async () => {
    const counts = ids.map(async (subscriptionId) => app.webhooks.count('ada', { subscriptionId, status: 'delivered' }, 100))
    return (await Promise.all(counts)).every((count) => count === 30)
  })
  // Each of the failed attempts, and each event for each subscription once: none was sent by two jobs.
  t.equal(seen.length, failures)
  t.equal(failures, 12 + 90)
  for (const id of ids.slice(0, 2)) {
    const deliveries = await app.webhooks.deliveries('ada', id, { limit: 100, oldestFirst: true })
    const ends = deliveries.map(({ endedAt = 0 }) => endedAt)
    t.strictSame(
      ends,
      ends.toSorted((one, other) => one - other)
    )
    t.ok(deliveries.every(({ attempts }) => attempts <= 2))
  }
  t.strictSame(
    services.flatMap(({ errors }) => errors),
    []
  )
})

t.test('does not deadlock when subscriptions fail, change, recover, are removed and are swept at the same time', onServer, async (t) => {
  const { url, seen } = await startReceiver(t, () => (Math.random() < 0.5 ? 500 : 204))
  const [schema, queues] = [freshSchema(t), freshSchema(t)]
  const services = await Promise.all([1, 2].map(async () => onPool(t, schema, queues)))
  const round = async (_: unknown, turn: number) => {
    const { app, store } = services[turn % 2] as (typeof services)[0]
    const owner = `owner ${turn % 3}`
    for (let left = scaled(4, 100); left > 0; left -= 1) {
      const before = seen.length
      const { id } = await app.webhooks.subscribe(owner, { url, eventTypes: ['order.created'] })
      for (let number = 0; number < 3; number += 1) await app.webhooks.emit('order.created', { number })
      await Promise.all([
        app.webhooks.rotateKey(owner, id).catch(ignoreRefusal),
        app.webhooks.change(owner, id, { description: 'changed' }).catch(ignoreRefusal),
        app.webhooks.recover(owner, id, 0).catch(ignoreRefusal),
        store.removeEndedBefore(Date.now() - 200, 50),
        until(() => seen.length > before).then(() => app.webhooks.unsubscribe(owner, id))
      ])
    }
  }
  await Promise.all(Array.from({ length: 6 }, round))
  t.strictSame(
    services.flatMap(({ errors }) => errors),
    []
  )
  const [{ store, database }] = services as [(typeof services)[0]]
  await Promise.all(services.map(async ({ app }) => app.close()))
  while ((await store.removeEndedBefore(Date.now(), 50)) > 0);
  const [left] = await database.query(`SELECT json_build_array(
    (SELECT count(*) FROM ${schema}.webhook_deliveries), (SELECT count(*) FROM ${schema}.webhook_attempts),
    (SELECT count(*) FROM ${schema}.webhook_messages))::text AS json`)
  t.strictSame(left, [0, 0, 0])
})

t.test(
  'an event takes the same number of statements for any number of subscriptions, ordered or not, and asks once for rights',
  async (t) => {
    const { pglite, schema } = await inMemory()
    const database = fromPGlite(pglite)
    await migrate(database, webhookMigrations, { schema })
    const queue = postgresWorkQueue(pglite, { schema: schemaName() })
    const app = Fastify()
    const schemaOfData = { type: 'object', properties: { number: { type: 'integer' } } }
    const type = { description: 'An order was placed.', schema: schemaOfData, example: { number: 1 } }
    await app.register(webhooks, {
      events: { few: type, many: type },
      store: postgresWebhookStore(database, { schema }),
      queue,
      worker: false,
      async mayReceive(subscriptions, { transaction }) {
        await transaction?.query('SELECT')
        return subscriptions
      }
    })
    await app.ready()
    t.teardown(async () => {
      await app.close()
      await queue.close()
    })
    for (const [eventType, count] of [
      ['few', 2],
      ['many', 40]
    ] as const)
      for (let number = 0; number < count; number += 1)
        await app.webhooks.subscribe(`${eventType} ${number}`, {
          url: 'https://hooks.example.com',
          eventTypes: [eventType],
          ordered: number % 2 === 0
        })
    const statementsOf = async (eventType: string) => {
      let statements = 0
      await pglite.transaction(async (transaction) => {
        const query = async (sql: string, values?: unknown[]) => {
          statements += 1
          return transaction.query(sql, values)
        }
        await app.webhooks.emit(eventType, { number: 1 }, { transaction: { query } })
      })
      return statements
    }
    t.equal(await statementsOf('many'), await statementsOf('few'))
  }
)

t.test('uses an index in each statement of the store', async (t) => {
  const { pglite, schema } = await inMemory()
  await migrate(fromPGlite(pglite), webhookMigrations, { schema })
  const statements = new Map<string, unknown[]>()
  // Records each statement of the contract once.
  const noted = (queries: Pick<PGlite, 'query' | 'exec'>) => ({
    async query(sql: string, values: unknown[] = []) {
      statements.set(sql, values)
      return queries.query(sql, values)
    },
    exec: async (sql: string) => queries.exec(sql)
  })
  const database = fromPGlite({
    ...noted(pglite),
    listen: async () => async () => {},
    transaction: async (work) => pglite.transaction(async (transaction) => work(noted(transaction)))
  })
  const runs: (() => Promise<void>)[] = []
  webhookStoreContract(
    (_, run) => runs.push(run),
    () => postgresWebhookStore(database, { schema })
  )
  for (const run of runs) await run()
  await pglite.exec('SET enable_seqscan = off')
  t.teardown(() => pglite.exec('RESET enable_seqscan'))
  for (const [sql, values] of statements) {
    const { rows } = await pglite.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${sql}`, values)
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
    t.notMatch(plan, /Seq Scan/, sql.replaceAll(schema, 'concordat').trim().slice(0, 60))
  }
  t.ok(statements.size > 15)
})

t.test('forgets removed subscriptions a day later, in batches', onServer, async (t) => {
  const schema = freshSchema(t)
  const { pool, database } = connect(t)
  await migrate(database, webhookMigrations, { schema })
  const store = postgresWebhookStore(database, { schema })
  const removals = `${schema}.webhook_removals`
  await pool.query(
    `INSERT INTO ${removals} SELECT gen_random_uuid(), now() - interval '1 hour' * age FROM unnest('{23,25,26,27}'::integer[]) AS age`
  )
  const left = async () => Number((await pool.query(`SELECT count(*) FROM ${removals}`)).rows[0].count)
  t.equal(await store.removeEndedBefore(0, 2), 2, 'there may be more')
  t.equal(await left(), 2)
  t.equal(await store.removeEndedBefore(0, 2), 0)
  t.equal(await left(), 1)
})

interface Seen {
  readonly data: { readonly number: number }
}

/** Starts a receiver that records the requests. */
async function startReceiver(t: Test, status: () => number = () => 204) {
  const seen: Seen[] = []
  const receiver = createServer({ key, cert }, async (request, response) => {
    const event = JSON.parse(Buffer.concat(await request.toArray()).toString())
    // The verification of the URL.
    const isVerification = event.type === 'webhook.ping'
    if (!isVerification) seen.push(event)
    response.writeHead(isVerification ? 204 : status()).end()
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  t.teardown(() => {
    receiver.closeAllConnections()
    receiver.close()
  })
  return { url: `https://localhost:${(receiver.address() as AddressInfo).port}/`, seen }
}

async function serviceOf(t: Test, database: Postgres, queue: WorkQueue, schema: string, options: Partial<WebhooksOptions> = {}) {
  await migrate(database, webhookMigrations, { schema })
  const store = postgresWebhookStore(database, { schema })
  const app = Fastify()
  await app.register(webhooks, {
    events: {
      'order.created': {
        description: 'An order was placed.',
        schema: { type: 'object', properties: { number: { type: 'integer' } } },
        example: { number: 1 }
      }
    },
    mayReceive: 'everyone',
    store,
    queue,
    scheduleSeconds: [0, 0.05, 0.05],
    dangerouslyAllowLoopback: 'any-certificate',
    ...options
  })
  t.teardown(async () => {
    await app.close()
    await queue.close()
  })
  await app.ready()
  return { app, store, database }
}

async function onPool(t: Test, schema: string, queues: string, options: Partial<WebhooksOptions> = {}) {
  const { pool, database } = connect(t, { max: 8 })
  const errors: unknown[] = []
  const queue = postgresWorkQueue(pool, { schema: queues, onError: (error) => errors.push(error) })
  return { ...(await serviceOf(t, database, queue, schema, options)), errors }
}

// Ignores the refusal for a subscription that is disabled or deleted.
function ignoreRefusal(error: Error & { readonly statusCode?: number }) {
  if (error.statusCode !== 404 && error.statusCode !== 409) throw error
}
