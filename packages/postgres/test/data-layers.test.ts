import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import idempotency from '@concordat/idempotency'
import { migrate } from '@concordat/postgres'
import { idempotencyMigrations, postgresIdempotencyStore } from '@concordat/postgres/idempotency'
import { transactionPool } from '@concordat/postgres/transaction-pool'
import unitOfWork, { type Transaction } from '@concordat/postgres/unit-of-work'
import { postgresWebhookStore, webhookMigrations } from '@concordat/postgres/webhooks'
import { postgresWorkQueue } from '@concordat/postgres/work-queue'
import { generateClient } from '@concordat/test-harness/prisma-client'
import webhooks from '@concordat/webhooks'
import { PrismaPg } from '@prisma/adapter-pg'
import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { boolean, integer, pgSchema, text, timestamp } from 'drizzle-orm/pg-core'
import Fastify, { type FastifyInstance } from 'fastify'
import knex from 'knex'
import { Kysely, sql as kyselySql, PostgresDialect } from 'kysely'
import type { Pool } from 'pg'
import t, { type Test } from 'tap'
import { connect, freshSchema, inMemory, schemaName } from './database.ts'
import { kinds } from './unit-of-work.ts'

const config = { transaction: true, idempotency: 'required' } as const
const placedAt = new Date('2026-01-02T03:04:05.678Z')
const tags = ['a', 'b "c"']

/** The row that each data layer writes and reads: its columns have the types that drivers parse differently. */
interface Order {
  readonly id: number
  readonly item: string
  readonly placedAt: Date
  readonly tags: string[]
  readonly isPaid: boolean
}

/** The transactions of handlers that ran before. */
const retried = new WeakSet<Transaction>()

/** What the routes of this file do with a data layer. */
interface Orders {
  /** Inserts an order and returns it as it was read from the table. */
  insert(item: string): Promise<Order>
  /** Inserts an order in a transaction of the data layer, and fails with this error there. */
  insertAndFail(item: string, error: Error): Promise<unknown>
  /** Inserts an order in a transaction of the data layer. */
  insertNested(item: string): Promise<unknown>
  /** Runs a statement that PostgreSQL refuses in a transaction of the data layer, ignores the error, and commits. */
  ignoreFailure(item: string): Promise<unknown>
  /** Runs SQL without values. */
  run(text: string): Promise<unknown>
  /** Begins a transaction with an isolation level. */
  isolate(): Promise<unknown>
}

type Layer = (pool: Pool, schema: string) => Orders

const values = { placedAt, tags, isPaid: true }
const columns = { placed_at: placedAt, tags, is_paid: true }

const onDrizzle: Layer = (pool, schema) => {
  const db = drizzle({ client: pool })
  const orders = pgSchema(schema).table('orders', {
    id: integer().generatedAlwaysAsIdentity(),
    item: text().notNull(),
    placedAt: timestamp('placed_at', { withTimezone: true }).notNull(),
    tags: text().array().notNull(),
    isPaid: boolean('is_paid').notNull()
  })
  return {
    async insert(item) {
      await db.insert(orders).values({ ...values, item })
      const [order] = await db.select().from(orders).where(sql`item = ${item}`)
      return order as Order
    },
    insertAndFail: (item, error) =>
      db.transaction(async (tx) => {
        await tx.transaction((inner) => inner.insert(orders).values({ ...values, item }))
        throw error
      }),
    insertNested: (item) => db.transaction((tx) => tx.insert(orders).values({ ...values, item })),
    ignoreFailure: (item) =>
      db.transaction(async (tx) => {
        await tx.insert(orders).values({ ...values, item })
        await tx.execute(sql`SELECT missing_column`).catch(() => {})
      }),
    run: (text) => db.execute(text),
    isolate: () => db.transaction((tx) => tx.execute(sql`SELECT 1`), { isolationLevel: 'serializable' })
  }
}

interface Columns {
  readonly id: number
  readonly item: string
  readonly placed_at: Date
  readonly tags: string[]
  readonly is_paid: boolean
}
const renamed = ({ id, item, placed_at: placedAt, tags, is_paid: isPaid }: Columns): Order => ({ id, item, placedAt, tags, isPaid })

const onKysely: Layer = (pool, schema) => {
  const db = new Kysely<{ orders: Omit<Columns, 'id'> & { id?: number } }>({ dialect: new PostgresDialect({ pool }) }).withSchema(schema)
  const insert = (target: typeof db, item: string) =>
    target
      .insertInto('orders')
      .values({ ...columns, item })
      .execute()
  return {
    async insert(item) {
      await insert(db, item)
      return renamed((await db.selectFrom('orders').selectAll().where('item', '=', item).executeTakeFirstOrThrow()) as Columns)
    },
    insertAndFail: (item, error) =>
      db.transaction().execute(async (tx) => {
        await insert(tx, item)
        throw error
      }),
    insertNested: (item) => db.transaction().execute((tx) => insert(tx, item)),
    ignoreFailure: (item) =>
      db.transaction().execute(async (tx) => {
        await insert(tx, item)
        await tx
          .selectFrom('orders')
          .select('missing_column' as 'item')
          .execute()
          .catch(() => {})
      }),
    run: (text) => kyselySql.raw(text).execute(db),
    isolate: () =>
      db
        .transaction()
        .setIsolationLevel('serializable')
        .execute((tx) => tx.selectFrom('orders').selectAll().execute())
  }
}

const onKnex: Layer = (pool, schema) => {
  const db = knex({ client: 'pg', version: '14', connectionPool: pool })
  const orders = (target = db) => target.withSchema(schema).table<Columns>('orders')
  return {
    async insert(item) {
      await orders().insert({ ...columns, item })
      return renamed((await orders().where({ item }).first()) as Columns)
    },
    insertAndFail: (item, error) =>
      db.transaction(async (tx) => {
        await tx.transaction((inner) => orders(inner).insert({ ...columns, item }))
        throw error
      }),
    insertNested: (item) => db.transaction((tx) => orders(tx).insert({ ...columns, item })),
    ignoreFailure: (item) =>
      db.transaction(async (tx) => {
        await orders(tx).insert({ ...columns, item })
        await orders(tx)
          .select('missing_column')
          .catch(() => {})
      }),
    run: (text) => db.raw(text),
    isolate: () => db.transaction((tx) => orders(tx), { isolationLevel: 'serializable' })
  }
}

interface PrismaOrders {
  readonly order: {
    create(input: { data: Omit<Order, 'id'> }): Promise<unknown>
    findFirstOrThrow(input: { where: { item: string } }): Promise<Order>
  }
  $queryRawUnsafe(text: string): Promise<unknown>
}
type Prisma = PrismaOrders & {
  $transaction(work: (tx: PrismaOrders) => Promise<unknown>, options?: { isolationLevel: string }): Promise<unknown>
}

const models = `
model Order {
  id       Int      @id @default(autoincrement())
  item     String
  placedAt DateTime @map("placed_at") @db.Timestamptz(3)
  tags     String[]
  isPaid   Boolean  @map("is_paid")
  @@map("orders")
}`
const { Client } = await generateClient(t, join(import.meta.dirname, '..'), models)

const create = (target: PrismaOrders, item: string) => target.order.create({ data: { ...values, item } })

const onPrisma: Layer = (pool, schema) => {
  const db = new (Client as new (options: object) => Prisma)({ adapter: new PrismaPg(pool, { schema }) })
  return {
    async insert(item) {
      await create(db, item)
      return db.order.findFirstOrThrow({ where: { item } })
    },
    insertAndFail: (item, error) =>
      db.$transaction(async (tx) => {
        await create(tx, item)
        throw error
      }),
    insertNested: (item) => db.$transaction((tx) => create(tx, item)),
    ignoreFailure: (item) =>
      db.$transaction(async (tx) => {
        await create(tx, item)
        await tx.$queryRawUnsafe('SELECT missing_column').catch(() => {})
      }),
    run: (text) => db.$queryRawUnsafe(text),
    isolate: () => db.$transaction((tx) => create(tx, 'isolated'), { isolationLevel: 'Serializable' })
  }
}

const layers: Record<string, Layer> = { Drizzle: onDrizzle, Kysely: onKysely, Knex: onKnex, Prisma: onPrisma }

/** Starts a service with transactions, keys and webhooks, and an empty table of orders. */
async function serviceOn(t: Test, kind: (typeof kinds)[number]) {
  const { database, queue, schema } = await (kind === 'PGlite' ? onPGlite() : onServer(t))
  await migrate(database, [...idempotencyMigrations, ...webhookMigrations], { schema })
  await database.query(`CREATE TABLE ${schema}.orders (id int GENERATED ALWAYS AS IDENTITY, item text NOT NULL, placed_at timestamptz(3),
    tags text[], is_paid bool)`)
  const app = Fastify({ handlerTimeout: 10_000 })
  t.teardown(async () => {
    await app.close()
    await queue.close()
  })
  await app.register(unitOfWork, { database })
  await app.register(idempotency, {
    scope: () => 'a client',
    store: postgresIdempotencyStore(database, { schema })
  })
  await app.register(webhooks, {
    events: { 'order.created': { description: 'An order was placed.', schema: { type: 'object' }, example: {} } },
    mayReceive: 'everyone',
    store: postgresWebhookStore(database, { schema }),
    queue
  })
  return { app, database, schema }
}

async function onPGlite() {
  const { database, pglite, schema } = await inMemory()
  return { database, queue: postgresWorkQueue(pglite, { schema: schemaName() }), schema }
}

async function onServer(t: Test) {
  const [schema, queues] = [freshSchema(t), freshSchema(t)]
  const { database, pool } = connect(t)
  return { database, queue: postgresWorkQueue(pool, { schema: queues }), schema }
}

function post(app: FastifyInstance, url: string, key: string = randomUUID()) {
  return app.inject({ method: 'POST', url, headers: { 'idempotency-key': `"${key}"` } })
}

/** Returns the code of the error that the promise rejects with, which a data layer may have wrapped. */
async function codeOf(promise: Promise<unknown>) {
  const error = await promise.then(
    () => ({ code: 'resolved' }),
    (reason: { readonly code?: string; readonly cause?: { readonly code?: string } }) => reason
  )
  return 'cause' in error && error.cause?.code !== undefined ? error.cause.code : error.code
}

function routesOf(app: FastifyInstance, name: string, ordersOf: (transaction: Transaction) => Orders, onEnd: (orders: Orders) => void) {
  app.post<{ Querystring: { status: string; thrown?: string } }>(`/${name}`, { config }, async ({ query, transaction }, reply) => {
    const order = await ordersOf(transaction).insert(`order ${query.status}`)
    await app.webhooks.emit('order.created', {})
    if (query.thrown) throw Object.assign(new Error('refused'), { statusCode: Number(query.status) })
    return reply.code(Number(query.status)).send(order)
  })
  app.post(`/${name}/parts`, { config }, async ({ transaction }) => {
    const orders = ordersOf(transaction)
    await orders.insert('before')
    const failures = [
      await orders.insertAndFail('undone', new Error('only this part')).catch(({ message }) => message),
      await orders.ignoreFailure('lost').catch(() => 'refused')
    ]
    await orders.insertNested('nested')
    await orders.insert('after')
    return failures
  })
  const attempts = { ...config, transaction: { maxRetries: 1 } }
  app.post<{ Querystring: { state: string } }>(`/${name}/refused`, { config: attempts }, async ({ query, transaction }) => {
    const orders = ordersOf(transaction)
    await orders.insert('tried')
    const isFirst = !retried.delete(transaction)
    retried.add(transaction)
    if (isFirst) await orders.run(`DO 'BEGIN RAISE SQLSTATE ''${query.state}''; END'`)
    return {}
  })
  app.post(`/${name}/isolated`, { config }, async ({ transaction }) => ordersOf(transaction).isolate())
  app.post(`/${name}/late`, { config }, async ({ transaction }, reply) => {
    const orders = ordersOf(transaction)
    await orders.insert('in time')
    reply.raw.once('close', () => onEnd(orders))
    return {}
  })
}

for (const kind of kinds) {
  t.test(`on ${kind}`, async (t) => {
    const { app, database, schema } = await serviceOn(t, kind)
    const ended = new Map<string, Orders>()
    for (const [name, layer] of Object.entries(layers)) {
      routesOf(
        app,
        name,
        (transaction) => layer(transactionPool(transaction), schema),
        (orders) => ended.set(name, orders)
      )
    }
    await app.ready()
    const { id } = await app.webhooks.subscribe('ada', { url: 'https://receiver.example.com/', eventTypes: ['order.created'] })
    const deliveries = async () => (await app.webhooks.deliveries('ada', id, { limit: 99 })).length
    const items = () => database.query<string>(`SELECT to_json(item)::text AS json FROM ${schema}.orders ORDER BY id`)

    for (const name of Object.keys(layers)) {
      t.test(name, async (t) => {
        await database.query(`TRUNCATE ${schema}.orders RESTART IDENTITY`)

        t.test('commits writes with the response of the key and with the events', async (t) => {
          const before = await deliveries()
          const key = randomUUID()
          const first = await post(app, `/${name}?status=201`, key)
          t.equal(first.statusCode, 201, first.body)
          t.strictSame(first.json(), { id: 1, item: 'order 201', placedAt: placedAt.toISOString(), tags, isPaid: true })
          const retry = await post(app, `/${name}?status=201`, key)
          t.strictSame([retry.statusCode, retry.json()], [201, first.json()])
          t.strictSame([await items(), (await deliveries()) - before], [['order 201'], 1])
        })

        t.test('rolls back writes and events after a 4xx and a 5xx, thrown or sent', async (t) => {
          const before = [await items(), await deliveries()]
          for (const status of [409, 500]) {
            t.equal((await post(app, `/${name}?status=${status}`)).statusCode, status)
            t.equal((await post(app, `/${name}?status=${status}&thrown=1`)).statusCode, status)
          }
          t.strictSame([await items(), await deliveries()], before)
        })

        t.test('rolls back only the failed transactions of the data layer', async (t) => {
          await database.query(`TRUNCATE ${schema}.orders`)
          const { statusCode, body } = await post(app, `/${name}/parts`)
          t.strictSame([statusCode, JSON.parse(body)], [200, ['only this part', 'refused']])
          t.strictSame(await items(), ['before', 'nested', 'after'])
        })

        t.test('runs the handler again after a conflict, and responds with 503 after the loss of the connection', async (t) => {
          await database.query(`TRUNCATE ${schema}.orders`)
          const conflict = await post(app, `/${name}/refused?state=40001`)
          t.equal(conflict.statusCode, 200, conflict.body)
          const lost = await post(app, `/${name}/refused?state=57P01`)
          t.strictSame([lost.statusCode, lost.json<{ code: string }>().code], [503, 'TRANSACTION_UNAVAILABLE'])
          t.strictSame(await items(), ['tried'])
        })

        t.test('refuses an isolation level, and statements after the end', async (t) => {
          await database.query(`TRUNCATE ${schema}.orders`)
          t.equal((await post(app, `/${name}/isolated`)).statusCode, 500)
          t.equal((await post(app, `/${name}/late`)).statusCode, 200)
          const orders = ended.get(name) as Orders
          t.equal(await codeOf(orders.insert('too late')), 'TRANSACTION_ENDED')
          t.equal(await codeOf(orders.insertNested('too late')), 'TRANSACTION_ENDED')
          t.strictSame(await items(), ['in time'])
        })
      })
    }
  })
}
