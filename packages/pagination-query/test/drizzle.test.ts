import type { ListQuery } from '@concordat/pagination-query'
import { runDrizzle } from '@concordat/pagination-query/drizzle'
import { adapterContract } from '@concordat/pagination-query/testing'
import { casesOf } from '@concordat/test-harness/contract-cases'
import { startPGlite } from '@concordat/test-harness/pglite'
import { scaled } from '@concordat/test-harness/scale'
import { eq, or, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import {
  alias,
  bigint,
  boolean,
  char,
  date,
  doublePrecision,
  integer,
  jsonb,
  numeric,
  pgEnum,
  pgSchema,
  pgTable,
  pgView,
  real,
  text,
  timestamp,
  uuid,
  varchar
} from 'drizzle-orm/pg-core'
import { drizzle as drizzlePglite } from 'drizzle-orm/pglite'
import t from 'tap'
import { openSchema, skip } from './postgres.ts'
import { openSampleTable } from './sample-table.ts'
import { wholeList } from './whole-list.ts'

const state = pgEnum('State', ['waiting', 'active', 'done'])
const ticket = pgTable('ticket', {
  id: integer().primaryKey(),
  state: state().notNull(),
  key: varchar({ length: 4 }).notNull(),
  code: char({ length: 2 }).notNull(),
  share: real().notNull(),
  weight: doublePrecision(),
  labels: jsonb().notNull(),
  price: numeric({ precision: 6, scale: 2 }).notNull()
})

t.test('Drizzle on PostgreSQL', { skip }, async (t) => {
  const pool = await openSchema(t)
  const plain = drizzle(pool)
  const renaming = drizzle(pool, { casing: 'snake_case' })
  for (const [name, database] of [
    ['Drizzle', plain],
    ['Drizzle that names columns', renaming]
  ] as const) {
    t.test(name, async (t) =>
      adapterContract(
        casesOf(t),
        async () => {
          const sample = await openSampleTable(pool)
          const table = sampleTable(sample.name, database === plain ? 'created_at' : undefined)
          return { ...sample, run: (query) => runDrizzle(database, query, { table }) }
        },
        { walks: database === plain ? scaled(25, 500) : scaled(5, 100) }
      )
    )
  }
})

t.test('Drizzle on PGlite', async (t) => {
  const client = await startPGlite()
  t.teardown(() => client.close())
  const db = drizzlePglite(client)
  await client.exec(`create type "State" as enum ('waiting', 'active', 'done');
    create schema other; create type other."Shape" as enum ('round', 'square');
    create table other.part (id integer primary key, shape other."Shape" not null);
    insert into other.part select n, (array['round', 'square']::other."Shape"[])[n % 2 + 1] from generate_series(1, 5) as n;
    create table ticket (id integer primary key, state "State" not null, key varchar(4) not null, code char(2) not null, share real not null,
      weight double precision, labels jsonb not null, price numeric(6,2) not null);
    insert into ticket select n, (array['waiting', 'active', 'done']::"State"[])[n % 3 + 1], 'key' || n, chr(64 + n), n / 10.0, nullif(n, 4) / 10.0, '{"n": 1}', n
      from generate_series(1, 9) as n;
    create view waiting as select * from ticket where state = 'waiting'`)
  const ids = async (changes: Partial<ListQuery<Row>>, source: Partial<Parameters<typeof runDrizzle>[2]> = {}) =>
    (await runDrizzle(db, query(changes), { table: ticket, ...source })).rows.map((row) => row['id'])

  t.test('returns values as Drizzle maps them', async (t) => {
    const { rows } = await runDrizzle(db, query({ fields: ['labels', 'price', 'share'], perPage: 1 }), { table: ticket })
    t.strictSame(rows, [{ labels: { n: 1 }, price: '1.00', share: 0.1 }])
  })

  t.test('compares values as the type of the column, without truncating them to its length', async (t) => {
    const met = (field: string, kind: 'enum' | 'string' | 'decimal', operator: 'eq' | 'gt' | 'in', value: string | string[]) =>
      ids({ conditions: [{ field, kind, operator, value }] })
    t.strictSame(await met('state', 'enum', 'in', ['waiting', 'done']), [2, 3, 5, 6, 8, 9])
    t.strictSame(await met('key', 'string', 'eq', 'key1'), [1])
    t.strictSame(await met('key', 'string', 'eq', 'key1 and more'), [])
    t.strictSame(await met('code', 'string', 'eq', 'B'), [2])
    t.strictSame(await met('code', 'string', 'eq', 'B D'), [])
    t.strictSame(await met('share', 'decimal', 'eq', '0.3'), [3])
    t.strictSame(await met('weight', 'decimal', 'gt', '0.7'), [8, 9])
    t.strictSame(await met('price', 'decimal', 'gt', '8.001'), [9])
    t.strictSame(await ids({ conditions: [{ field: 'key', kind: 'string', operator: 'prefix', value: 'key' }], perPage: 1 }), [1])
  })

  t.test('sorts enums in the order of the database, also enums of other schemas', async (t) => {
    const order = [{ field: 'state', kind: 'enum', nullable: false, descending: false }, ...query({}).order] as const
    t.strictSame(await ids({ order, ranges: [{ equal: [], beyond: { operator: '>', values: ['waiting', '6'] } }] }), [9, 1, 4, 7, 2, 5, 8])
    const other = pgSchema('other')
    const table = other.table('part', { id: integer().primaryKey(), shape: other.enum('Shape', ['round', 'square'])().notNull() })
    t.strictSame(await ids({ conditions: [{ field: 'shape', kind: 'enum', operator: 'eq', value: 'round' }] }, { table }), [2, 4])
  })

  t.test('applies `where` to pages and counts, also if it is an OR', async (t) => {
    const where = sql`${ticket.id} = 1 or ${ticket.id} > 5`
    const changes = {
      conditions: [{ field: 'id', kind: 'integer', operator: 'ne', value: '1' }],
      perPage: 1,
      count: { max: 2 }
    } as const
    for (const one of [where, or(eq(ticket.id, 1), sql`${ticket.id} > 5`)]) {
      const page = await runDrizzle(db, query(changes), { table: ticket, where: one })
      t.strictSame([page.rows, page.total], [[{ id: 6 }], { items: 2, exact: false }])
    }
    t.strictSame((await runDrizzle(db, query({ ...changes, count: 'exact' }), { table: ticket, where })).total, { items: 4, exact: true })
  })

  t.test('reads views, aliases, joins, and expressions for fields', async (t) => {
    const waiting = pgView('waiting', { id: integer(), state: state() }).existing()
    t.strictSame(await ids({}, { table: waiting }), [3, 6, 9])
    t.strictSame(await ids({ perPage: 2 }, { table: alias(ticket, 'other') }), [1, 2])
    const heavier = alias(ticket, 'heavier')
    const pairs = db
      .select({ id: ticket.id, sum: sql<number>`${ticket.id} + ${heavier.id}`.as('sum') })
      .from(ticket)
      .innerJoin(heavier, eq(heavier.id, sql`${ticket.id} + 1`))
      .as('pairs')
    const bySum = [{ field: 'sum', kind: 'integer', nullable: false, descending: true }, ...query({}).order] as const
    const beyond = [
      { equal: [], beyond: { operator: '<', values: ['13'] } },
      { equal: ['13'], beyond: { operator: '>', values: ['6'] } }
    ] as const
    const page = await runDrizzle(db, query({ order: bySum, ranges: beyond, perPage: 2, fields: ['id', 'sum'], count: 'exact' }), {
      table: pairs
    })
    t.strictSame(page.rows, [
      { id: 5, sum: 11 },
      { id: 4, sum: 9 }
    ])
    t.equal(page.total?.items, 8)
    const columns = { double: sql`${ticket.id} * 2`, number: ticket.id }
    t.strictSame((await runDrizzle(db, query({ fields: ['double', 'number'], perPage: 1 }), { table: ticket, columns })).rows, [
      { double: 2, number: 1 }
    ])
  })

  t.test('fetches a single row beyond the page', async (t) => {
    const limits: unknown[] = []
    const logged = drizzlePglite(client, { logger: { logQuery: (_text, values) => limits.push(values.slice(-2)) } })
    await runDrizzle(logged, query({ perPage: 2, offset: 4 }), { table: ticket })
    const ranges = [{ equal: ['3'] }, { equal: [], beyond: { operator: '>', values: ['3'] } }] as const
    await runDrizzle(logged, query({ perPage: 2, offset: 1, ranges }), { table: ticket })
    t.strictSame(limits, [
      [3, 4],
      [3, 1]
    ])
  })

  t.test('works in a transaction, and reads uncommitted rows', async (t) => {
    await db
      .transaction(async (transaction) => {
        await transaction.delete(ticket).where(eq(ticket.id, 1))
        t.equal((await runDrizzle(transaction, query({ perPage: 1, count: 'exact' }), { table: ticket })).total?.items, 8)
        transaction.rollback()
      })
      .catch(() => {})
    t.equal((await ids({ perPage: 1 }))[0], 1)
  })

  t.test('throws a TypeError for a field without a column', async (t) => {
    for (const field of ['nothing', '_', 'getSQL', 'enableRLS', '__proto__', 'constructor']) {
      await t.rejects(runDrizzle(db, query({ fields: [field] }), { table: ticket }), {
        name: 'TypeError',
        message: `pagination-query: the table has no column "${field}". Add it to columns.`
      })
    }
  })
})

type Row = Readonly<Record<string, unknown>>

function query(changes: Partial<ListQuery<Row>>): ListQuery<Row> {
  return wholeList({ name: 'tickets', ...changes })
}

function sampleTable(name: string, createdAt?: string) {
  const precise = { withTimezone: true, precision: 6 } as const
  return pgTable(name, {
    id: uuid().primaryKey(),
    title: text().notNull(),
    status: text().notNull(),
    rating: integer(),
    price: numeric().notNull(),
    createdAt: (createdAt === undefined ? timestamp(precise) : timestamp(createdAt, precise)).notNull(),
    day: date(),
    views: bigint({ mode: 'bigint' }).notNull(),
    active: boolean().notNull()
  })
}
