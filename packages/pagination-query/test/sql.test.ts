import { once } from 'node:events'
import { type ListQuery, rangesFrom } from '@concordat/pagination-query'
import { preparePages, runSql, type SqlClient } from '@concordat/pagination-query/sql'
import { adapterContract, type OpenSample } from '@concordat/pagination-query/testing'
import { isApiError } from '@concordat/plugin-kit/api-error'
import { casesOf } from '@concordat/test-harness/contract-cases'
import { startPGlite } from '@concordat/test-harness/pglite'
import { scaled } from '@concordat/test-harness/scale'
import { Query } from 'pg'
import t from 'tap'
import { openSchema, skip } from './postgres.ts'
import { type Database, openSampleTable } from './sample-table.ts'
import { wholeList } from './whole-list.ts'

type SortKey = ListQuery['order'][number]
type SqlSource = NonNullable<Parameters<typeof runSql>[2]>
type Last = Parameters<typeof rangesFrom>[1]

const pglite = await startPGlite()
t.teardown(() => pglite.close())
t.test('SQL on PGlite', async (t) => adapterContract(casesOf(t), () => openSql(pglite), { walks: scaled(25, 500) }))

t.test('SQL on PostgreSQL', { skip }, async (t) => {
  const pool = await openSchema(t)
  adapterContract(casesOf(t), () => openSql(pool), { walks: scaled(120, 500) })
})

t.test('SQL on PostgreSQL with prepared pages', { skip }, async (t) => {
  const pool = await openSchema(t)
  pool.on('connect', preparePages)
  adapterContract(casesOf(t), () => openSql(pool), { walks: scaled(25, 100) })
})

t.test('prepares only the statements of pages, and at most 100 of them', { skip }, async (t) => {
  const pool = await openSchema(t)
  await pool.query('create table others as select id::text from generate_series(1, 3) as id')
  const client = await pool.connect()
  t.teardown(() => client.release())
  preparePages(client)
  const kept = async () => {
    const { rows } = await client.query<{ statement: string; runs: string }>(
      'select statement, (generic_plans + custom_plans)::text as runs from pg_prepared_statements order by prepare_time'
    )
    return rows
  }
  const query = textList({ name: 'others', count: 'exact', perPage: 2 })
  for (let round = 0; round < 2; round += 1) {
    t.strictSame((await runSql(client, query)).rows, [{ id: '1' }, { id: '2' }])
  }
  t.strictSame(await kept(), [{ statement: (await statementOf(query)).text, runs: '2' }])
  const { text, values } = await statementOf({ ...query, perPage: 3 })
  await client.query({ text, values: [...values] })
  await client.query({ name: 'mine', text: `${text} `, values: [...values] })
  const submitted = client.query(new Query({ text: `${text}  `, values: [...values] }))
  await once(submitted, 'end')
  t.strictSame(
    (await kept()).map(({ statement }) => statement),
    [(await statementOf(query)).text, text, `${text} `]
  )
  for (let perPage = 1; perPage <= 120; perPage += 1)
    t.equal((await runSql(client, { ...query, perPage })).rows.length, Math.min(perPage, 3))
  t.equal((await kept()).length, 101, 'including the statement with its own name')
})

t.test('reads tables with custom names, joins, conditions and types', async (t) => {
  await pglite.exec(`
    create schema shop; create type shop.state as enum ('open', 'closed');
    create table shop.customers (code text primary key, "full name" text);
    create table shop.orders (number text primary key, customer text, state shop.state, at timestamptz, weight real);
    insert into shop.customers values ('a', 'Ann'), ('b', 'Bob');
    insert into shop.orders values ('1', 'a', 'closed', '2026-01-01T00:00:00.100Z', 0.1), ('2', 'b', 'open', '2026-01-01', 0.2),
      ('3', 'a', 'open', '2026-01-01T00:00:00.150Z', 0.3), ('4', 'c', 'open', 'infinity', 0.1)`)
  const source: SqlSource = {
    table: { sql: 'shop.orders o left join shop.customers c on c.code = o.customer' },
    columns: {
      id: { sql: 'o.number', column: 'number' },
      customer: 'c.full name'
    },
    where: { text: 'o.customer <> $1 or $2', values: ['b', false] }
  }
  const id: SortKey = { field: 'id', kind: 'uuid', nullable: false, descending: false }
  const order: SortKey[] = [
    { field: 'state', kind: 'enum', nullable: false, descending: false },
    { field: 'customer', kind: 'string', nullable: true, descending: true },
    { field: 'weight', kind: 'decimal', nullable: false, descending: false },
    { field: 'at', kind: 'date-time', nullable: false, descending: false },
    id
  ]
  const query = textList({ name: 'none', order, fields: ['id', 'customer', 'at'], kinds: { at: 'date-time' }, perPage: 1, count: 'exact' })
  const first = await runSql(pglite, query, source)
  t.strictSame(first.rows, [{ id: '4', customer: null, at: 'infinity' }], 'sorts an enum in the order of its declaration')
  t.strictSame(first.total, { items: 3, exact: true })
  const second = await runSql(pglite, { ...query, ranges: rangesFrom(order, first.last as Last, false) }, source)
  t.strictSame(second.rows, [{ id: '3', customer: 'Ann', at: '2026-01-01T00:00:00.150Z' }])
  const third = await runSql(pglite, { ...query, ranges: rangesFrom(order, second.last as Last, false) }, source)
  t.strictSame([third.rows, third.hasMore], [[{ id: '1', customer: 'Ann', at: '2026-01-01T00:00:00.100Z' }], false])
  const conditions = [{ field: 'state', kind: 'enum', operator: 'in', value: ['closed'] } as const]
  t.strictSame((await runSql(pglite, { ...query, conditions }, source)).total, { items: 1, exact: true })
})

t.test('sorts a field with the name of its column by the column, not by its text', async (t) => {
  await pglite.exec(
    `create table named as select id, timestamptz '2026-01-01Z' + ms * interval '1 ms' as at from (values ('1', 1000), ('2', 900), ('3', 0)) as v (id, ms)`
  )
  const order: SortKey[] = [
    { field: 'at', kind: 'date-time', nullable: false, descending: false },
    { field: 'id', kind: 'string', nullable: false, descending: false }
  ]
  const { rows } = await runSql(pglite, textList({ name: 'named', order, kinds: { at: 'date-time' }, fields: ['at', 'id'] }))
  t.strictSame(
    rows.map((row) => (row as { id: string }).id),
    ['3', '2', '1']
  )
})

t.test('quotes names, and uses snake_case by default', async (t) => {
  const { text } = await statementOf(textList({ name: 'order-items', fields: ['id', 'shippedAt', 'constructor'] }), {
    columns: { id: 'i.a"b' }
  })
  t.match(text, 'select "i"."a""b" as membera, "shipped_at" as memberb, "constructor" as memberc')
  t.match(text, 'from "order_items" order by')
  t.match((await statementOf(textList({}), { table: 'shop.orders' })).text, 'from "shop"."orders"')
})

t.test('passes values as parameters, after the values of where', async (t) => {
  const value = `'; drop table items; --`
  const conditions = [{ field: 'id', kind: 'string', operator: 'in', value: [value, '$1'] } as const]
  const { text, values } = await statementOf(textList({ conditions }), { where: { text: 'tenant = $1', values: ['north'] } })
  t.match(text, 'where (tenant = $1) and "id" in ($2, $3)')
  t.strictSame(values, ['north', value, '$1'])
})

t.test('returns a page for the rows of other drivers', async (t) => {
  await pglite.exec(`create table others as select id::text from generate_series(1, 3) as id`)
  const client: SqlClient = { query: async (text, values) => ({ rows: (await pglite.query<object>(text, values)).rows }) }
  const wanted = { rows: [{ id: '1' }, { id: '2' }], first: ['1'], last: ['2'], hasMore: true, total: undefined }
  t.strictSame(await runSql(client, textList({ name: 'others', perPage: 2 })), wanted)
})

t.test('sorts times before Christ and infinite times correctly', async (t) => {
  await pglite.exec(`create table ages as select * from (values ('1', timestamptz '0044-03-15 BC', date 'infinity'), ('2', '-infinity', '0044-03-15 BC'),
    ('3', 'infinity', null), ('4', '12026-01-01', '12026-01-01')) as v (id, began, ended)`)
  for (const [field, kind, wanted] of [
    ['began', 'date-time', '2143'],
    ['ended', 'date', '2413']
  ] as const) {
    const order: SortKey[] = [
      { field, kind, nullable: true, descending: false },
      { field: 'id', kind: 'string', nullable: false, descending: false }
    ]
    let page = await runSql(pglite, textList({ name: 'ages', order, perPage: 1 }))
    let found = ''
    while (page.last) {
      found += (page.rows[0] as { id: string }).id
      page = await runSql(pglite, textList({ name: 'ages', order, perPage: 1, ranges: rangesFrom(order, page.last, false) }))
    }
    t.equal(found, wanted, field)
  }
})

t.test('counts few rows exactly instead of estimating, and does not count if the page determines the total', async (t) => {
  await pglite.exec(`create table many as select id::text from generate_series(1, 3000) as id; analyze many`)
  const statements: string[] = []
  const client: SqlClient = {
    query: (text, values) => {
      statements.push(text)
      return pglite.query<object>(text, values)
    }
  }
  const run = async (changes: Partial<ListQuery>) => {
    statements.length = 0
    const { total } = await runSql(client, textList({ name: 'many', perPage: 10, ...changes }))
    return [total, statements.length]
  }
  t.strictSame(await run({ count: 'exact' }), [{ items: 3000, exact: true }, 2])
  t.strictSame(await run({ count: { max: 20 } }), [{ items: 20, exact: false }, 2])
  t.strictSame(await run({ count: 'exact', conditions: few('123') }), [{ items: 11, exact: true }, 2])
  t.strictSame(await run({ count: 'exact', conditions: few('2999') }), [{ items: 1, exact: true }, 1])
  t.strictSame(await run({ count: 'exact', offset: 2995 }), [{ items: 3000, exact: true }, 1])
  t.strictSame(await run({ count: 'none', ranges: [] }), [undefined, 0])
})

t.test('rejects with the error of the database for a row that an expression cannot convert, whatever the filters are', async (t) => {
  await pglite.exec(`create table readings as select * from (values ('1', '7'), ('2', 'seven')) as v (id, value)`)
  const columns = { id: { sql: 'value::integer::text' } }
  for (const conditions of [[], [{ field: 'id', kind: 'string', operator: 'eq', value: '8' } as const]]) {
    const error = await runSql(pglite, textList({ name: 'readings', conditions }), { columns }).catch((error: unknown) => error)
    t.match(error, { code: '22P02', message: /"seven"/ })
    t.notOk(isApiError(error))
  }
})

t.test('finds a prefix with an index', async (t) => {
  await pglite.exec(
    `create table words (id text collate "C" primary key); insert into words select md5(n::text) from generate_series(1, 5000) as n; analyze words`
  )
  const { text, values } = await statementOf(
    textList({ name: 'words', conditions: [{ field: 'id', kind: 'string', operator: 'prefix', value: 'abc' }] })
  )
  const plan = await pglite.query<{ 'QUERY PLAN': string }>(`explain ${text}`, [...values])
  t.match(plan.rows.map((row) => row['QUERY PLAN']).join(), /Index Cond: \(\(id >= 'abc'/)
})

/** Returns the statement that fetches the page. */
async function statementOf(query: ListQuery, source: SqlSource = {}) {
  const statements: { text: string; values: unknown[] }[] = []
  const client: SqlClient = {
    query: async (text, values) => {
      statements.push({ text, values })
      return { rows: [] }
    }
  }
  await runSql(client, { ...query, count: 'none' }, source)
  return statements[0] as { text: string; values: unknown[] }
}

function few(value: string) {
  return [{ field: 'id', kind: 'string', operator: 'prefix', value } as const]
}

function textList(changes: Partial<ListQuery>): ListQuery {
  return wholeList({ order: [{ field: 'id', kind: 'string', nullable: false, descending: false }], perPage: 100, ...changes })
}

async function openSql(database: Database): Promise<OpenSample> {
  const table = await openSampleTable(database)
  return { ...table, run: (query) => runSql(database, query, { table: table.name }) }
}
