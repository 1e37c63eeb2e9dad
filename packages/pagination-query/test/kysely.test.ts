import { type ListQuery, rangesFrom } from '@concordat/pagination-query'
import { runKysely } from '@concordat/pagination-query/kysely'
import { adapterContract } from '@concordat/pagination-query/testing'
import { casesOf } from '@concordat/test-harness/contract-cases'
import { scaled } from '@concordat/test-harness/scale'
import { CamelCasePlugin, Kysely, PostgresDialect } from 'kysely'
import t from 'tap'
import { openSchema, skip } from './postgres.ts'
import { openSampleTable } from './sample-table.ts'

type SortKey = ListQuery['order'][number]

t.test('Kysely on PostgreSQL', { skip }, async (t) => {
  const pool = await openSchema(t)
  const plain = new Kysely<Record<string, object>>({ dialect: new PostgresDialect({ pool }) })
  for (const [name, database] of [
    ['Kysely', plain],
    ['Kysely with names in camel case', plain.withPlugin(new CamelCasePlugin({ underscoreBeforeDigits: true }))]
  ] as const) {
    t.test(name, async (t) =>
      adapterContract(
        casesOf(t),
        async () => {
          const table = await openSampleTable(pool)
          return { ...table, run: (query) => runKysely(database.selectFrom(table.name), query, { title: `${table.name}.title` }) }
        },
        { walks: database === plain ? scaled(25, 500) : scaled(5, 100) }
      )
    )
  }
})

t.test('applies joins and conditions of the builder, and does not return its other columns', { skip }, async (t) => {
  const pool = await openSchema(t)
  await pool.query(`create table customers (id text, name text);
    create table orders (id text, customer text, created_at timestamptz);
    insert into customers values ('a', 'Ann'), ('b', 'Bob');
    insert into orders values ('1', 'a', '2026-01-01T00:00:00.000001Z'), ('2', 'b', '2026-01-01Z'), ('3', 'a', '2026-01-01Z'), ('4', 'a', '2026-01-02Z')`)
  const database = new Kysely<{ orders: { id: string; customer: string; created_at: string }; customers: { id: string; name: string } }>({
    dialect: new PostgresDialect({ pool })
  })
  const base = database.selectFrom('orders as o').innerJoin('customers as c', 'c.id', 'o.customer').where('c.name', '=', 'Ann')
  const order: SortKey[] = [
    { field: 'createdAt', kind: 'date-time', nullable: false, descending: true },
    { field: 'id', kind: 'string', nullable: false, descending: true }
  ]
  const query: ListQuery<{ id: string; customer: string; createdAt: string }> = {
    name: 'orders',
    id: 'id',
    conditions: [{ field: 'id', kind: 'string', operator: 'ne', value: '4' }],
    order,
    fields: ['id', 'customer', 'createdAt'],
    kinds: { createdAt: 'date-time' },
    perPage: 1,
    reverse: false,
    offset: 0,
    ranges: [{ equal: [] }],
    count: 'exact'
  }
  const columns = { id: 'o.id', customer: 'c.name' }
  const first = await runKysely(base, query, columns)
  t.strictSame(first.rows, [{ id: '1', customer: 'Ann', createdAt: '2026-01-01T00:00:00.000001Z' }])
  t.strictSame([first.hasMore, first.total], [true, { items: 2, exact: true }])
  const next = { ...query, ranges: rangesFrom(order, first.last as Parameters<typeof rangesFrom>[1], false) }
  t.strictSame((await runKysely(base, next, columns)).rows, [{ id: '3', customer: 'Ann', createdAt: '2026-01-01T00:00:00.000Z' }])
  t.strictSame((await runKysely(base, { ...query, offset: 1 }, columns)).rows, [
    { id: '3', customer: 'Ann', createdAt: '2026-01-01T00:00:00.000Z' }
  ])
  t.strictSame((await runKysely(base, { ...query, ranges: [], count: 'none' }, columns)).rows, [])
})
