// In a process of its own: index-subject.ts adds tests to that of the process.
import paginationQuery, { collection, type ListQuery } from '@concordat/pagination-query'
import { checkIndexes } from '@concordat/pagination-query/check-indexes'
import { runSql } from '@concordat/pagination-query/sql'
import { contractOf, publish } from '@concordat/plugin-kit/wiring'
import { startPGlite } from '@concordat/test-harness/pglite'
import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { z } from 'zod'
import { findMissingIndexes, listing } from './index-subject.ts'
import { secret } from './orders.ts'
import { wholeList } from './whole-list.ts'

type SqlSource = NonNullable<Parameters<typeof runSql>[2]>

const pglite = await startPGlite()
t.teardown(() => pglite.close())
await pglite.exec(`create table items (id integer primary key, tenant text not null, note text, extra jsonb not null default '{"key?": 1}', "a$1" integer);
  insert into items (id, tenant, note) select n, case n % 2 when 0 then 'north' else 'south' end, 'note ' || n from generate_series(1, 12) as n`)

/** Returns the ids, the total, and the statements with their values. */
async function run(source: SqlSource, changes: Partial<ListQuery<{ id: number }>> = {}) {
  const statements: { text: string; values: unknown[] }[] = []
  const client = {
    async query(text: string, values: unknown[]) {
      statements.push({ text, values })
      return pglite.query<object>(text, values)
    }
  }
  const { rows, total } = await runSql(client, wholeList<{ id: number }>({ count: 'exact', ...changes }), source)
  return { ids: rows.map(({ id }) => id), items: total?.items, statements }
}

t.test('the values of a query are parameters after those of `where`, in each part of each statement', async (t) => {
  const source: SqlSource = {
    table: { sql: 'select * from items where tenant = $2 and id < $1 or tenant = $2 and note = $3', values: [9, 'north', 'note 12'] },
    where: { text: 'id > $1', values: [2] }
  }
  const conditions = [{ field: 'note', kind: 'string', operator: 'ne', value: '$1' } as const]
  const ranges = [{ equal: ['4'] }, { equal: [], beyond: { operator: '>', values: ['4'] } }] as const
  const { ids, items, statements } = await run(source, { conditions, ranges, perPage: 2 })
  t.strictSame([ids, items], [[4, 6], 4])
  const [page, count] = statements as [(typeof statements)[0], (typeof statements)[0]]
  const from =
    '(select * from items where tenant = $3 and id < $2 or tenant = $3 and note = $4\n) as listed where (id > $1) and "note" is distinct from $'
  t.strictSame(
    page.text
      .split('(select "id"')
      .slice(1)
      .map((branch) => branch.includes(` from ${from}`)),
    [true, true]
  )
  t.strictSame(page.values, [2, 9, 'north', 'note 12', '$1', '4', '$1', '4'])
  t.strictSame(count, { text: `select count(*)::text as items from ${from}5`, values: [2, 9, 'north', 'note 12', '$1'] })
})

// Each is a condition that is true, and has what would be refused or renumbered outside of it.
const quoted = {
  text: `'$9 ; ) ? \`' <> ''`,
  'text with a quote': `'it''s ; $9' <> ''`,
  'text with escapes': String.raw`E'it\'s ; $9' <> ''`,
  'text between dollar signs': `$$ '; $9 ) $$ <> ''`,
  'text between tags': '$a$ $$ ; $9 ( $a$ <> $b$$b$',
  'a quoted name': '"a$1" is null',
  'a name with a dollar sign': 'a$1 is null',
  'a comment in a line': `true -- '; $9 (\n`,
  'a comment': `true /* '; $9 ( */`,
  'an operator of jsonb': `extra ? 'key?'`,
  'two operators of jsonb': `extra ?| array['key?'] and not extra ?& array['other?']`
}

for (const [title, condition] of Object.entries(quoted)) {
  for (const sql of [`select * from items where ${condition} and tenant = $1`, `select * from items where tenant = $1 and ${condition}`]) {
    t.test(`${title} is not read: ${JSON.stringify(sql)}`, async (t) => {
      const { ids, items } = await run({
        table: { sql, values: ['north'] },
        where: { text: `id > $1 and ${condition} and true`, values: [4] }
      })
      t.strictSame([ids, items], [[6, 8, 10, 12], 4])
    })
  }
}

t.test('a query has every form that begins with a query, with and without values', async (t) => {
  for (const [sql, values] of [
    ['select * from items where tenant = $1', ['north']],
    ['SELECT * FROM items WHERE id % 2 = 0', []],
    ["/* north */ -- theirs\n select * from items where tenant = 'north' -- all", []],
    ["(select * from items where tenant = 'north') union all (select * from items where id < $1)", [0]],
    ['with theirs as (select * from items where tenant = $1) select * from theirs', ['north']],
    ['values (2), (4), (6), (8), (10), (12)', []],
    ["select * from items where tenant = 'north' order by id desc", []]
  ] as const) {
    const columns = sql.startsWith('values') ? { id: 'column1' } : {}
    t.strictSame((await run({ table: { sql, values }, columns })).ids, [2, 4, 6, 8, 10, 12], sql)
  }
})

t.test('with LIMIT, the list has only these rows', async (t) => {
  const table = { sql: 'select * from items order by id desc limit $1', values: [3] }
  t.match(await run({ table }, { perPage: 2 }), { ids: [10, 11], items: 3 })
})

const parts = 'must be a single expression or query: without a semicolon, and with all its quotes, parentheses and comments closed.'
const remedies = {
  none: 'Use the SQL of PostgreSQL with the placeholders $1, $2 and so on, with Knex that of toSQL().toNative().',
  some: 'Number them from $1, and pass a value for each.'
}
const refused: readonly (readonly [condition: string, values: readonly unknown[], problem: string])[] = [
  ['tenant = ?', ['north'], `has no placeholder for 1 value. ${remedies.none}`],
  ['tenant = @p0 and id = @p1', ['north', 1], `has no placeholder for 2 values. ${remedies.none}`],
  ['tenant = :1', ['north'], `has no placeholder for 1 value. ${remedies.none}`],
  ['tenant = $1', [], `has $1 for 0 values. ${remedies.some}`],
  ['tenant = $1', ['north', 1], `has $1 for 2 values. ${remedies.some}`],
  ['tenant = $2', ['north'], `has $2 for 1 value. ${remedies.some}`],
  ['tenant = $1 and id = $3', ['north', 1], `has $1, $3 for 2 values. ${remedies.some}`],
  ["tenant = '$1'", ['north'], `has no placeholder for 1 value. ${remedies.none}`],
  ['tenant = $1 and id = $2 and note = $3', ['north', 1], `has $1, $2, $3 for 2 values. ${remedies.some}`],
  ['true;', [], parts],
  ['true; drop table items', [], parts],
  ['true; --', [], parts],
  ['true) or (true', [], parts],
  ['(true', [], parts],
  ['true)', [], parts],
  ["note = 'open", [], parts],
  ['"note = 1', [], parts],
  ['true /* open', [], parts],
  ['true /* one /* two */ */', [], parts],
  [
    '`tenant` = 1',
    [],
    'is in the SQL of another database: ` quotes no name in PostgreSQL. Use PostgreSQL, or an adapter of your own, which adapterContract tests.'
  ]
]
const items = listing({ fields: {}, sorts: ['id'] })

async function refuse(t: Test, source: SqlSource, message: string) {
  const client = { query: async () => Promise.reject(new Error('a statement was sent')) }
  await t.rejects(runSql(client, wholeList(), source), { name: 'TypeError', message })
  await t.rejects(checkIndexes({ connect: async () => {}, ...client }, items, source), { name: 'TypeError', message })
}

for (const [condition, values, problem] of refused) {
  t.test(`refused by runSql and by checkIndexes, before any statement: ${condition} with ${JSON.stringify(values)}`, async (t) => {
    await refuse(t, { table: { sql: `select * from items where ${condition}`, values } }, `pagination-query: source.table.sql ${problem}`)
    await refuse(t, { where: { text: condition, values } }, `pagination-query: source.where.text ${problem}`)
  })
}

t.test('a query without values, and values without a query, are refused', async (t) => {
  for (const sql of ['select * from items', 'with a as (select 1) select * from a', ' -- all\nselect 1', 'VALUES (1)', 'table items'])
    await refuse(t, { table: { sql } }, 'pagination-query: source.table.sql is a query. Add source.table.values, [] if it has no values.')
  for (const sql of ['items', 'items i join owners o on o.name = i.tenant', '"select"', 'delete from items returning *', '']) {
    const message =
      'pagination-query: source.table.sql must be a query that begins with SELECT or WITH, because it has values. For the SQL after FROM, remove values.'
    await refuse(t, { table: { sql, values: [] } }, message)
  }
  await refuse(
    t,
    { table: { sql: 'select 1', parameters: [] } as never },
    'pagination-query: source.table.parameters is unknown. Use only sql, values.'
  )
})

t.test('checkIndexes reports each query that PostgreSQL computes before it sorts, and none that it merges with the list', async (t) => {
  await pglite.exec(`create table sales (id uuid primary key, tenant text not null, total numeric not null);
    create index on sales (tenant, total, id); create index on sales (total, id); create index on sales (tenant, id)`)
  const sales = listing({ name: 'sales', fields: { total: 'decimal' }, sorts: ['total'] })
  const find = (sql: string) =>
    findMissingIndexes(pglite, sales, { table: { sql: sql.replace('#', 'sales where tenant = $1'), values: ['north'] } })
  for (const sql of ['select * from #', 'select id, total from (select * from #) as theirs', 'select sales.*, 1 as one from #'])
    t.strictSame(await find(sql), [], sql)
  for (const sql of [
    'select * from # order by total',
    'select * from # order by total desc, id desc',
    'select * from # limit 9',
    'select * from # offset 9',
    'select distinct * from #',
    'select id, max(total) as total from # group by id',
    "select * from # union all select * from sales where tenant = 'south'",
    "select * from # union select * from sales where tenant = 'south'",
    'with theirs as (select * from #) select * from theirs',
    'select *, row_number() over () from #',
    'select * from # for update'
  ])
    t.match(await find(sql), [{ names: ['sort.total'] }], sql)
  const first =
    'the sort keys belong to a query that PostgreSQL computes first. Remove its ORDER BY, LIMIT, DISTINCT, GROUP BY, UNION or WITH'
  t.match(await find('select * from # limit 9'), [{ problem: `sort=total: ${first}` }])
})

for (const [library, schema] of Object.entries({
  TypeBox: Type.Object({ id: Type.Integer(), note: Type.String() }),
  Zod: z.object({ id: z.int(), note: z.string() })
})) {
  t.test(`a list that is repeated has the values of each request, as rows and as text (${library})`, async (t) => {
    const notes = collection<{ id: number; note: string }>(schema)({
      name: 'notes',
      style: 'cursor',
      id: 'id',
      defaultSort: ['-id'],
      sort: { keys: ['id'] },
      count: { max: 5 }
    })
    const app = Fastify()
    t.teardown(() => app.close())
    await app.register(paginationQuery, { publicUrl: 'https://api.example.com', cursor: { secrets: [secret] } })
    publish(app, { envelope: { wraps: () => true, markReplayed: () => {}, volatileTail: () => 0 } })
    app.addHook('preSerialization', async (_request, reply, payload) => {
      const text = contractOf(app, 'pages')?.text?.(reply, payload)
      return { text: text !== undefined, data: text === undefined ? payload : JSON.parse(text) }
    })
    app.get<{ Params: { tenant: string } }>(
      '/:tenant',
      {
        config: { collection: notes },
        serializerCompiler: () => JSON.stringify,
        schema: { response: { 200: { type: 'array', items: notes.item } } }
      },
      async (request, reply) => {
        const table = { sql: 'select id, note from items where tenant = $1', values: [request.params.tenant] }
        return reply.page(await runSql(pglite, request.listQuery(notes), { table }))
      }
    )
    const texts: unknown[] = []
    for (const tenant of ['north', 'south', 'north', 'south', 'north', 'south']) {
      const { text, data } = (await app.inject(`/${tenant}?perPage=2`)).json()
      t.strictSame(
        data.map(({ id }: { id: number }) => id),
        tenant === 'north' ? [12, 10] : [11, 9]
      )
      texts.push(text)
    }
    t.strictSame(texts.slice(-2), [true, true])
  })
}
