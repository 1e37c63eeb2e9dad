import type { ListQuery } from '@concordat/pagination-query'
import { runKnex } from '@concordat/pagination-query/knex'
import { adapterContract } from '@concordat/pagination-query/testing'
import { casesOf } from '@concordat/test-harness/contract-cases'
import { scaled } from '@concordat/test-harness/scale'
import knex, { type Knex } from 'knex'
import t from 'tap'
import { openSchema, skip } from './postgres.ts'
import { openSampleTable } from './sample-table.ts'
import { wholeList } from './whole-list.ts'

t.test('Knex on PostgreSQL', { skip }, async (t) => {
  const pool = await openSchema(t)
  const connect = (settings: Knex.Config = {}) => {
    const database = knex({ client: 'pg', connection: pool.options as Knex.PgConnectionConfig, ...settings })
    t.teardown(() => database.destroy())
    return database
  }
  const plain = connect()
  // Does the same as snakeCaseMappers of Objection.js.
  const renaming = connect({ wrapIdentifier: (name, wrap) => wrap(name.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`)) })
  for (const [name, database] of [
    ['Knex', plain],
    ['Knex that renames columns', renaming]
  ] as const) {
    t.test(name, async (t) =>
      adapterContract(
        casesOf(t),
        async () => {
          const sample = await openSampleTable(pool)
          return { ...sample, run: (query) => runKnex(database(sample.name), query, { title: `${sample.name}.title` }) }
        },
        { walks: database === plain ? scaled(25, 500) : scaled(5, 100) }
      )
    )
  }

  t.test('applies joins and conditions of the builder to pages, to every branch of a union, and to counts', async (t) => {
    await pool.query('create table customer (id integer primary key, name text not null)')
    await pool.query('create table purchase (id integer primary key, customer_id integer not null, note text, extra jsonb not null)')
    await pool.query(`insert into customer values (1, 'Ada'), (2, 'Max')`)
    await pool.query(
      `insert into purchase select n, n % 2 + 1, nullif('note ' || n % 3, 'note 0'), '{"key?": 1}' from generate_series(1, 12) as n`
    )
    const columns = {
      id: 'purchase.id',
      customer: 'customer.name',
      marked: { sql: `extra ? 'key?'` },
      number: { sql: 'purchase.id::real' }
    }
    const purchases = plain('purchase').join('customer', 'customer.id', 'purchase.customer_id').where('customer.name', 'Max')
    const before = purchases.toQuery()
    const page = await runKnex(purchases, query({ perPage: 2, count: { max: 3 }, fields: ['id', 'customer', 'marked'] }), columns)
    t.strictSame(page.rows, [
      { id: 1, customer: 'Max', marked: true },
      { id: 3, customer: 'Max', marked: true }
    ])
    t.strictSame(page.total, { items: 3, exact: false })
    const ranges = [
      { equal: ['note 1'], beyond: { operator: '>', values: ['7'] } },
      { equal: [], beyond: { operator: '>', values: ['note 1'] } },
      { equal: [], isNull: true }
    ] as const
    const order = [{ field: 'note', kind: 'string', nullable: true, descending: false }, ...query({}).order] as const
    const rest = await runKnex(
      purchases,
      query({ ranges, order, conditions: [{ field: 'marked', kind: 'boolean', operator: 'eq', value: true }] }),
      columns
    )
    t.strictSame(
      rest.rows.map((row) => row['id']),
      [5, 11, 3, 9]
    )
    const numbered = await runKnex(
      purchases,
      query({ conditions: [{ field: 'number', kind: 'decimal', operator: 'lte', value: '3.0' }] }),
      columns
    )
    t.strictSame(
      numbered.rows.map((row) => row['id']),
      [1, 3]
    )
    t.equal(purchases.toQuery(), before, 'the builder is unchanged')
  })

  t.test('fetches a single row beyond the page', async (t) => {
    const fetched: unknown[] = []
    const listen = (rows: unknown[]) => fetched.push(rows.length)
    plain.on('query-response', listen)
    await runKnex(plain('purchase'), query({ perPage: 2, offset: 4 }))
    const ranges = [{ equal: ['3'] }, { equal: [], beyond: { operator: '>', values: ['3'] } }] as const
    await runKnex(plain('purchase'), query({ perPage: 2, ranges }))
    plain.off('query-response', listen)
    t.strictSame(fetched, [3, 3])
  })

  t.test('works in a transaction, and reads uncommitted rows', async (t) => {
    await pool.query('create table draft (id integer primary key)')
    const transaction = await plain.transaction()
    await transaction('draft').insert({ id: 1 })
    t.equal((await runKnex(transaction('draft'), query({ count: 'exact', offset: 5 }))).total?.items, 1)
    await transaction.rollback()
    t.equal((await runKnex(plain('draft'), query({}))).rows.length, 0)
  })

  t.test('rejects conditions joined by OR, and accepts them in parentheses', async (t) => {
    const open = plain('draft').where('id', 1).orWhere('id', 2)
    await t.rejects(runKnex(open, query({})), { name: 'TypeError', message: /joined by OR/ })
    await t.rejects(runKnex(plain('draft').whereNull('id').orWhereRaw('true'), query({})), TypeError)
    await pool.query('insert into draft values (1), (2), (3)')
    const closed = plain('draft').where((either) => either.where('id', 1).orWhere('id', 2))
    t.strictSame((await runKnex(closed, query({ conditions: [{ field: 'id', kind: 'integer', operator: 'ne', value: '1' }] }))).rows, [
      { id: 2 }
    ])
  })
})

type Row = Readonly<Record<string, unknown>>

function query(changes: Partial<ListQuery<Row>>): ListQuery<Row> {
  return wholeList({ name: 'purchases', ...changes })
}
