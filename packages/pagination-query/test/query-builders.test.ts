import paginationQuery, { collection, type ListQuery, type Page } from '@concordat/pagination-query'
import { adapterContract } from '@concordat/pagination-query/testing'
import { casesOf } from '@concordat/test-harness/contract-cases'
import { scaled } from '@concordat/test-harness/scale'
import { sqltag as sql } from '@prisma/client/runtime/client'
import { Type } from '@sinclair/typebox'
import { eq } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { numeric, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import Fastify, { type LightMyRequestResponse } from 'fastify'
import { CamelCasePlugin, Kysely, PostgresDialect } from 'kysely'
import type { Pool } from 'pg'
import t, { type Test } from 'tap'
import { z } from 'zod'
import { secret } from './orders.ts'
import { openSchema, skip } from './postgres.ts'
import { builders, documentedFunctions, knexOn, prismaOn } from './query-builders.ts'
import { openSampleTable } from './sample-table.ts'

const columns = ['id', 'title', 'status', 'rating', 'price', 'created_at', 'day', 'views', 'active']
const except = '00000000-0000-0000-0000-000000000000'

t.test('query builders on PostgreSQL', { skip }, async (t) => {
  const pool = await openSchema(t)
  for (const [name, run] of Object.entries(await builders(t.teardown.bind(t), pool))) {
    t.test(name, async (t) =>
      adapterContract(
        casesOf(t),
        async () => {
          const sample = await openSampleTable(pool)
          return { ...sample, run: (query) => run(query, { table: sample.name, columns, except }) }
        },
        { walks: scaled(10, 100) }
      )
    )
  }
})

interface Order {
  readonly id: string
  readonly placedAt: string
  readonly total: string
}
interface Tables {
  orders: { id: string; customer: string; placed_at: string; total: string }
}

type List = (query: ListQuery<Order>, customer: string) => Promise<Page<Order>>

const schemas = {
  TypeBox: Type.Object({
    id: Type.String({ format: 'uuid' }),
    placedAt: Type.String({ format: 'date-time' }),
    total: Type.String({ format: 'decimal', maxLength: 12 })
  }),
  Zod: z.object({ id: z.uuid(), placedAt: z.iso.datetime(), total: z.string().max(12).meta({ format: 'decimal' }) })
}

/** Returns a function that follows the links of the list of a customer, for each schema library, and returns the rows of all pages. */
function walksOf(t: Test, list: List) {
  return Object.values(schemas).map((schema) => {
    const orders = collection<Order>(schema)({
      name: 'orders',
      style: 'cursor',
      id: 'id',
      defaultSort: ['-placedAt'],
      sort: { keys: ['placedAt', 'total'] },
      filter: { total: ['gte'] }
    })
    const app = Fastify()
    t.teardown(() => app.close())
    app.register(paginationQuery, { publicUrl: 'https://api.example.com', cursor: { secrets: [secret] } })
    app.after(() => {
      const schema = { response: { 200: { type: 'array', items: orders.item } } }
      app.get<{ Params: { customer: string } }>('/:customer', { config: { collection: orders }, schema }, async (request, reply) =>
        reply.page(await list(request.listQuery(orders), request.params.customer))
      )
    })
    return async (start: string) => {
      const rows: Order[] = []
      for (let path: string | undefined = start; path !== undefined; ) {
        const { statusCode, body, headers }: LightMyRequestResponse = await app.inject(path)
        if (statusCode !== 200) throw new Error(body)
        rows.push(...(JSON.parse(body) as Order[]))
        path = /<https:\/\/api\.example\.com([^>]*)>; rel="next"/.exec(String(headers['link']))?.[1]
      }
      return rows
    }
  })
}

const orders = pgTable('orders', {
  id: uuid().notNull(),
  customer: text().notNull(),
  placedAt: timestamp('placed_at', { withTimezone: true }).notNull(),
  total: numeric().notNull()
})

/** Each list as docs/collection-adapters.md writes it, and the same in a transaction that has added an order and is then rolled back. */
async function documentedLists(
  t: Test,
  pool: Pool
): Promise<Record<string, { list: List; inTransaction: (insert: string, list: (list: List) => Promise<void>) => Promise<unknown> }>> {
  const { runKysely, runKnex, runDrizzle, runPrisma } = (await documentedFunctions(t.teardown.bind(t))) as Record<
    'runKysely' | 'runKnex' | 'runDrizzle' | 'runPrisma',
    (database: unknown, query: ListQuery<Order>, rows: unknown) => Promise<Page<Order>>
  >
  const rollback = new Error('rollback')
  const undone = (error: unknown) => {
    if (error !== rollback) throw error
  }
  const onKysely =
    (database: Kysely<Tables>): List =>
    (query, customer) =>
      runKysely(database, query, database.selectFrom('orders').selectAll().where('customer', '=', customer))
  const kysely = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  const renaming = kysely.withPlugin(new CamelCasePlugin())
  const onKnex =
    (knex: ReturnType<typeof knexOn>): List =>
    (query, customer) =>
      runKnex(knex, query, knex('orders').where('customer', customer))
  const knex = knexOn(pool)
  const onDrizzle =
    (db: ReturnType<typeof drizzle>): List =>
    (query, customer) =>
      runDrizzle(db, query, db.select().from(orders).where(eq(orders.customer, customer)))
  const onPrisma =
    (client: Pick<typeof prisma, '$queryRawUnsafe'>): List =>
    (query, customer) =>
      runPrisma(client, query, sql`select * from orders where customer = ${customer}`)
  const prisma = await prismaOn(t.teardown.bind(t), pool)
  const inKysely = (database: Kysely<Tables>) => (insert: string, list: (list: List) => Promise<void>) =>
    database
      .transaction()
      .execute(async (transaction) => {
        await transaction.executeQuery({ ...transaction.selectFrom('orders').selectAll().compile(), sql: insert, parameters: [] })
        await list(onKysely(transaction))
        throw rollback
      })
      .catch(undone)
  return {
    Kysely: { list: onKysely(kysely), inTransaction: inKysely(kysely) },
    'Kysely with names in camel case': { list: onKysely(renaming), inTransaction: inKysely(renaming) },
    Knex: {
      list: onKnex(knex),
      inTransaction: (insert, list) =>
        knex
          .transaction(async (transaction) => {
            await transaction.raw(insert.replaceAll('?', String.raw`\?`))
            await list(onKnex(transaction))
            throw rollback
          })
          .catch(undone)
    },
    Drizzle: {
      list: onDrizzle(drizzle(pool)),
      async inTransaction(insert, list) {
        const client = await pool.connect()
        const db = drizzle(client)
        await db
          .transaction(async (transaction) => {
            await transaction.execute(insert)
            await list(onDrizzle(db as never))
            throw rollback
          })
          .catch(undone)
          .finally(() => client.release())
      }
    },
    Prisma: {
      list: onPrisma(prisma),
      inTransaction: (insert, list) =>
        prisma
          .$transaction(async (transaction) => {
            await transaction.$queryRawUnsafe(insert)
            await list(onPrisma(transaction))
            throw rollback
          })
          .catch(undone)
    }
  }
}

t.test('the functions of docs/collection-adapters.md, with the queries of the page', { skip }, async (t) => {
  const pool = await openSchema(t)
  await pool.query(
    'create table orders (id uuid primary key, customer text not null, placed_at timestamptz not null, total numeric(10,2) not null)'
  )
  for (let number = 1; number <= 9; number += 1) await pool.query(insert(number, number % 4 === 0 ? 'max?' : 'ann'))
  for (const [name, { list, inTransaction }] of Object.entries(await documentedLists(t, pool))) {
    t.test(name, async (t) => {
      for (const walk of walksOf(t, list)) {
        t.strictSame(totals(await walk('/ann?perPage=2')), ['5.10', '2.10', '7.10', '1.10', '9.10', '6.10', '3.10'])
        t.strictSame(await walk('/max%3F?total[gte]=4.1&sort=total&perPage=1'), [
          { id: '00000000-0000-4000-8000-000000000004', placedAt: '2026-01-01T00:00:00.000001Z', total: '4.10' },
          { id: '00000000-0000-4000-8000-000000000008', placedAt: '2026-01-01T00:00:00.000002Z', total: '8.10' }
        ])
      }
      await inTransaction(insert(10, 'max?'), async (list) => {
        for (const walk of walksOf(t, list)) t.strictSame(totals(await walk('/max%3F?sort=-total')), ['10.10', '8.10', '4.10'])
      })
      for (const walk of walksOf(t, list)) t.strictSame(totals(await walk('/max%3F?sort=-total')), ['8.10', '4.10'])
    })
  }
})

function insert(number: number, customer: string) {
  const id = `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
  return `insert into orders values ('${id}', '${customer}', '2026-01-01T00:00:00.00000${number % 3}Z', ${number}.10)`
}

function totals(rows: readonly Order[]) {
  return rows.map(({ total }) => total)
}
