import { randomInt, randomUUID } from 'node:crypto'
import { inspect } from 'node:util'
import envelope from '@concordat/envelope'
import errorCatalogue from '@concordat/error-catalogue'
import paginationQuery, { collection, type ListQuery, type Page } from '@concordat/pagination-query'
import { runArray } from '@concordat/pagination-query/memory'
import { runSql } from '@concordat/pagination-query/sql'
import { movedDate } from '@concordat/test-harness/moved-date'
import { type Static, Type } from '@sinclair/typebox'
import Fastify, { type FastifyInstance } from 'fastify'
import { Pool, types } from 'pg'
import t, { type Test } from 'tap'

const skip = process.env['TEST_DATABASE_URL'] === undefined && 'TEST_DATABASE_URL is not set'
const cursor = { secrets: ['fJ2mYp7Qw4Zt9LxN8vBc3KdR6sHg1TaE'] }

const Thing = Type.Object({
  title: Type.String({ maxLength: 40 }),
  id: Type.String({ format: 'uuid' }),
  note: Type.Optional(Type.String({ maxLength: 40 })),
  code: Type.Union([Type.String(), Type.Null()]),
  state: Type.Union([Type.Literal('open'), Type.Literal('shut "now"')]),
  whole: Type.Integer(),
  large: Type.Optional(Type.Integer()),
  digits: Type.String({ format: 'int64' }),
  price: Type.String({ format: 'decimal' }),
  rate: Type.Optional(Type.Number()),
  real: Type.Optional(Type.Number()),
  active: Type.Optional(Type.Boolean()),
  day: Type.Optional(Type.String({ format: 'date' })),
  at: Type.String({ format: 'date-time' }),
  changed: Type.Optional(Type.String({ format: 'date-time' })),
  letters: Type.String({ maxLength: 5 })
})
type Thing = Static<typeof Thing>

const table = `create table things (id uuid primary key, title text not null, note varchar(200), code text, state text not null, whole smallint not null,
  large bigint, digits bigint not null, price numeric not null, rate numeric, real float8, active boolean, day date, at timestamptz not null,
  changed timestamp, letters char(5) not null)`

const listing = {
  name: 'things',
  id: 'id',
  defaultSort: ['-at'],
  sort: { keys: ['at', 'title', 'price', 'note', 'large', 'day', 'active', 'letters'], combinations: [['active', '-note']] },
  filter: { whole: true, title: ['eq', 'ne', 'prefix'], at: true, note: ['null'] }
} as const

const pick = <Value>(values: readonly Value[]) => values[randomInt(values.length)] as Value
const texts = [
  '',
  ' ',
  'a',
  '"quoted"',
  'back\\slash',
  'line\nfeed',
  '\u0001\u001d\u001e',
  'ü€😀',
  '\u2028',
  '</script>',
  '+',
  '-',
  't',
  'f',
  'null',
  '\u007f',
  'NaN'
]

function values(): unknown[] {
  const optional = <Value>(...all: Value[]) => (randomInt(4) === 0 ? null : pick(all))
  return [
    randomUUID(),
    pick(texts),
    optional(...texts),
    optional(...texts),
    pick(['open', 'shut "now"']),
    randomInt(-9, 9),
    optional('0', '-9007199254740991', '42'),
    pick(['0', '-1', '123456789012']),
    pick(['0.10', '12345678901234567890.5', '-1', '1e-7']),
    optional('0.5', '-12.50', '100', '0.000001'),
    optional('0', '1e300', '-0.1', '1e-9'),
    optional(true, false),
    optional('2026-01-31', '0001-01-01', '9999-12-31'),
    pick(['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.5Z', '2026-01-31T12:00:00.123456+02', '1999-12-31T23:59:59.999Z']),
    optional('2026-01-31 12:00:00', '2026-07-01 00:00:00.000001'),
    pick(['a', 'ab   ', '', '12345'])
  ]
}

async function insert(pool: Pool, row: unknown[] = values()) {
  await pool.query(`insert into things values (${row.map((_, index) => `$${index + 1}`).join(', ')})`, row)
}

async function openPool(t: Test, session = '') {
  const schema = `written_${randomUUID().replaceAll('-', '')}`
  const pool = new Pool({ connectionString: process.env['TEST_DATABASE_URL'], max: 4, options: `-c search_path=${schema} ${session}` })
  await pool.query(`create schema ${schema}`)
  t.teardown(async () => {
    await pool.query(`drop schema ${schema} cascade`)
    await pool.end()
  })
  return pool
}

/** Returns a client that leaves out columns that are NULL, as that of @concordat/postgres does. */
function withoutNulls(pool: Pool) {
  return {
    async query(text: string, list: unknown[]) {
      const { rows } = await pool.query<Record<string, unknown>>(text, list)
      return { rows: rows.map((row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))) }
    }
  }
}

type Run = (query: ListQuery<Thing>) => Promise<Page<Thing>>
// The kinds of a query lead to the form of its rows. A copy has no form, so its rows are fetched one by one.
const asRows = <Row>(query: ListQuery<Row>): ListQuery<Row> => ({ ...query, kinds: { ...query.kinds } })

async function service(t: Test, run: Run, change: (page: Page<Thing>) => Page<Thing> = (page) => page) {
  movedDate(t, 0)
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(errorCatalogue)
  await app.register(paginationQuery, { publicUrl: 'https://api.example.com', cursor })
  await app.register(envelope, { publicUrl: 'https://api.example.com' })
  const counts = { exact: undefined, few: { max: 5 }, none: 'none' } as const
  for (const [count, counted] of Object.entries(counts)) {
    for (const style of ['page', 'cursor'] as const) {
      const things = collection(Thing)({ ...listing, name: `${style}-${count}`, style, count: counted })
      for (const [kind, one] of [['text', (query: ListQuery<Thing>) => query] as const, ['rows', asRows] as const]) {
        app.get(
          `/${kind}/${style}/${count}`,
          { config: { collection: things }, schema: { response: { 200: Type.Array(Thing) } } },
          async (request, reply) => reply.page(change(await run(one(request.listQuery(things) as ListQuery<Thing>))))
        )
      }
    }
  }
  return app
}

const plain = (text: string) =>
  text
    .replaceAll('/text/', '/rows/')
    .replace(/"timestamp":"[^"]*"/, '')
    .replace(/"requestId":"[^"]*"/, '')

/** Requests a list as text and as rows, several times, and follows some of its links. Both must give the same bytes. */
async function compare(t: Test, app: FastifyInstance, target: string, depth = 2): Promise<void> {
  for (let time = 0; time < 3; time += 1) {
    const [text, rows] = await Promise.all([app.inject(`/text${target}`), app.inject(`/rows${target}`)])
    if (text.statusCode !== rows.statusCode || plain(text.body) !== plain(rows.body)) {
      t.equal(text.statusCode, rows.statusCode, target)
      t.equal(plain(text.body), plain(rows.body), target)
      return
    }
    if (time === 2 && depth > 0 && rows.statusCode === 200) {
      const links = rows.json<{ _links: { rel: string; href: string }[] }>()._links.filter(({ rel }) => rel !== 'self' && rel !== 'first')
      for (const { href } of links) await compare(t, app, href.replace('https://api.example.com/rows', ''), depth - 1)
    }
  }
}

function targets() {
  const sort = pick([
    '',
    'sort=title',
    'sort=-price',
    'sort=note',
    'sort=-note',
    'sort=large',
    'sort=-day',
    'sort=active,-note',
    'sort=letters',
    'sort=-active'
  ])
  const filter = pick([
    '',
    'whole[gte]=0',
    'title[prefix]=a',
    'title[ne]=a',
    'note[null]=true',
    'at[lt]=2026-02-01T00:00:00Z',
    'title=none'
  ])
  const fields = pick(['', '', 'fields=title,id', 'fields=at,price', 'fields=code,letters,day'])
  const size = pick(['perPage=1', 'perPage=3', 'perPage=100', ''])
  return `/${pick(['page', 'cursor'])}/${pick(['exact', 'few', 'none'])}?${[sort, filter, fields, size].filter(Boolean).join('&')}`
}

const sessions = {
  'the default': '',
  'another date style and time zone': '-c datestyle=SQL,DMY -c timezone=America/St_Johns',
  German: '-c datestyle=German'
}

for (const [name, session] of Object.entries(sessions)) {
  t.test(
    `a page that PostgreSQL writes as text has the bytes of the page of its rows, with the session settings of ${name}`,
    { skip },
    async (t) => {
      const pool = await openPool(t, session)
      await pool.query(table)
      for (let row = 0; row < 12; row += 1) await insert(pool)
      const source = { table: 'things' }
      const app = await service(t, (query) => runSql(pool, query, source))
      const cleaned = await service(t, (query) => runSql(withoutNulls(pool), query, source))
      for (let draw = 0; draw < 25; draw += 1) for (const one of [app, cleaned]) await compare(t, one, targets())
      t.pass('all pages are equal')
    }
  )
}

const base = (changes: Record<number, unknown>) =>
  Object.assign(
    [
      '018f4e2a-7c1b-7d3e-9a5f-000000000001',
      'a',
      'b',
      'c',
      'open',
      1,
      '1',
      '1',
      '1',
      '1',
      '1',
      true,
      '2026-01-31',
      '2026-01-31T00:00:00Z',
      null,
      'e'
    ],
    changes
  )
const odd: Readonly<Record<string, Record<number, unknown>>> = {
  'a separator': { 1: 'a\u001fb' },
  'a separator where another value is NULL': { 1: 'a\u001fb', 2: null },
  'only separators': { 1: '\u001f\u001f\u001f' },
  'a value that the schema does not list': { 4: 'ajar' },
  'a number that JavaScript rounds': { 6: '9007199254740993' },
  'digits that JavaScript rounds': { 7: '9007199254740993' },
  'a decimal that JavaScript rounds': { 9: '0.12345678901234567890123' },
  'a decimal that is not a number': { 9: 'NaN' },
  'an infinite number': { 10: 'Infinity' },
  'negative zero': { 10: '-0' },
  'an infinite day': { 12: 'infinity' },
  'a day before the first': { 12: '0044-03-15 BC' },
  'an infinite time': { 13: 'infinity' },
  'a time after the year 9999': { 13: '10000-01-01T00:00:00Z' },
  'a time before the year 1': { 13: '0044-03-15 00:00:00.5 BC' }
}

// As openDatabase reads it.
const numberOrBigInt = (text: string) => (Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text))

t.test('a value with a form that only its driver knows gives the same response, and so do the pages after it', { skip }, async (t) => {
  for (const parser of [String, Number, BigInt, numberOrBigInt] as readonly ((text: string) => unknown)[]) {
    types.setTypeParser(types.builtins.INT8, parser)
    for (const [name, changes] of Object.entries(odd)) {
      await t.test(`${name}, with bigint as ${parser.name}`, async (t) => {
        const pool = await openPool(t)
        await pool.query(table)
        for (let row = 0; row < 3; row += 1) await insert(pool)
        const app = await service(t, (query) => runSql(pool, query, { table: 'things' }))
        await compare(t, app, '/cursor/few?perPage=2&sort=large', 1)
        await compare(t, app, '/page/exact?perPage=100', 0)
        await insert(pool, base(changes))
        await compare(t, app, '/page/exact?perPage=100', 0)
        await pool.query('delete from things where id = $1', [base({})[0]])
        await compare(t, app, '/page/exact?perPage=100', 0)
      })
    }
  }
  types.setTypeParser(types.builtins.INT8, String)
})

t.test('a handler reads the bigints of a page that was written as text as its driver does', { skip }, async (t) => {
  t.teardown(() => types.setTypeParser(types.builtins.INT8, String))
  for (const [parser, expected] of [
    [numberOrBigInt, [5, 9007199254740993n]],
    [BigInt, [5n, 9007199254740993n]],
    [String, ['5', '9007199254740993']]
  ] as const) {
    types.setTypeParser(types.builtins.INT8, parser)
    const pool = await openPool(t)
    await pool.query(table)
    for (const large of ['5', '9007199254740993']) await insert(pool, base({ 0: randomUUID(), 6: large }))
    const seen: unknown[] = []
    const app = await service(
      t,
      (query) => runSql(pool, query, { table: 'things' }),
      (page) => {
        seen.push(page.rows.map((row) => row.large))
        return { ...page, rows: [] }
      }
    )
    // The first request fetches rows.
    for (let time = 0; time < 2; time += 1) await app.inject('/text/cursor/few?perPage=2&sort=large')
    t.strictSame(seen, [expected, expected], parser.name)
  }
})

t.test('columns of other types than their fields, and NULL in a required field, give the same responses', { skip }, async (t) => {
  const changes = [
    'title type jsonb using to_jsonb(title)',
    "title type text[] using array[title, 'b']",
    'title type json using to_json(title)',
    "title type bytea using convert_to(title, 'UTF8')",
    'title type char(12)',
    'title drop not null',
    'price type float8',
    'price type bigint using 1',
    'price drop not null',
    'whole type numeric using 1.50',
    'rate type bigint using 5',
    'active type text using active::text',
    'day type timestamp',
    'at type timestamp',
    'at type date',
    'changed type text using at::text',
    'letters type name'
  ]
  for (const change of changes) {
    const pool = await openPool(t)
    await pool.query(table)
    for (let row = 0; row < 4; row += 1) await insert(pool)
    await pool.query(`alter table things alter ${change}`)
    const [column = ''] = change.split(' ')
    if (change.includes('drop')) await pool.query(`update things set ${column} = null where id = (select id from things limit 1)`)
    const app = await service(t, (query) => runSql(pool, query, { table: 'things' }))
    await compare(t, app, '/page/exact?perPage=100&sort=at', 0)
    await compare(t, app, '/cursor/few?perPage=2&sort=large', 1)
  }
  t.pass('all responses are equal')
})

t.test('a page that is requested again is one statement with one row, also with its total', { skip }, async (t) => {
  const pool = await openPool(t)
  await pool.query(table)
  for (let row = 0; row < 12; row += 1) await insert(pool)
  const found: number[] = []
  const counting = {
    async query(text: string, list: unknown[]) {
      const { rows } = await pool.query<object>(text, list)
      found.push(rows.length)
      return { rows }
    }
  }
  const app = await service(t, (query) => runSql(counting, query, { table: 'things' }))
  for (const target of [
    '/text/page/exact?perPage=5',
    '/text/page/exact?perPage=5&page=2',
    '/text/cursor/few?perPage=5',
    '/text/cursor/none',
    '/text/page/few?title=none'
  ]) {
    for (let time = 0; time < 2; time += 1) await app.inject(target)
    found.length = 0
    const response = await app.inject(target)
    t.equal(response.statusCode, 200)
    t.same(found, [1], target)
  }
})

const titled = (page: Page<Thing>) => ({ ...page, rows: page.rows.map((row) => ({ ...row, title: `${row.title}!` })) })

t.test('a handler reads, maps and changes the rows of a page that was written as text', { skip }, async (t) => {
  const pool = await openPool(t)
  await pool.query(table)
  for (let row = 0; row < 6; row += 1) await insert(pool)
  const changes: Record<string, (page: Page<Thing>) => Page<Thing>> = {
    read: (page) => (page.rows.length > 0 ? page : page),
    mapped: titled,
    spread: (page) => ({ ...page }),
    changed: (page) => {
      for (const row of page.rows) Object.assign(row, { title: 'changed' })
      return page
    },
    shortened: (page) => {
      ;(page.rows as Thing[]).pop()
      return page
    },
    replaced: (page) => Object.assign(page, { rows: titled(page).rows })
  }
  for (const change of Object.values(changes)) {
    const seen: string[] = []
    const app = await service(
      t,
      (query) => runSql(pool, query, { table: 'things' }),
      (page) => {
        const changed = change(page)
        const { rows, first, last, hasMore, total } = changed
        seen.push(JSON.stringify([Array.isArray(rows), { rows, first, last, hasMore, total }]))
        return changed
      }
    )
    await compare(t, app, '/page/exact?sort=title', 0)
    await compare(t, app, '/cursor/few?perPage=3', 0)
    t.ok(seen[0]?.startsWith('[true,{'))
    t.equal(new Set(seen).size, 2, 'the rows are the same in both ways')
  }
})

t.test('a hook finds an array in what the handler returned, and may change it', { skip }, async (t) => {
  const pool = await openPool(t)
  await pool.query(table)
  for (let row = 0; row < 3; row += 1) await insert(pool)
  const works: ((rows: Thing[]) => unknown)[] = [
    (rows) => rows.length,
    (rows) => t.ok(inspect(rows).includes('title:'), 'a list is shown with its items'),
    (rows) => rows.slice(1),
    (rows) => rows.toReversed(),
    (rows) => [...rows, ...rows],
    (rows) => rows.map(({ id, title }) => ({ id, title })),
    (rows) => JSON.parse(JSON.stringify(rows)),
    (rows) => Object.keys(rows).length + Object.entries(rows).length,
    (rows) => 0 in rows,
    (rows) => rows.push({ ...(rows[0] as Thing), title: 'more' }),
    (rows) => Reflect.deleteProperty(rows, 2),
    (rows) => Object.defineProperty(rows, 0, { value: rows[1] }),
    (rows) => Object.freeze(rows),
    (rows) => (rows.length = 1),
    (rows) => (rows[0] = { ...(rows[1] as Thing) })
  ]
  for (const work of works) {
    const app = await service(t, (query) => runSql(pool, query, { table: 'things' }))
    app.addHook('preSerialization', async (_request, _reply, payload) => {
      const result = work(payload as Thing[])
      return Array.isArray(result) && result !== payload ? result : payload
    })
    await compare(t, app, '/page/exact', 0)
  }
  t.pass('all responses are equal')
})

const row = (changes: object): Thing => ({
  id: randomUUID(),
  title: pick(texts),
  code: null,
  state: 'open',
  whole: 1,
  digits: '1',
  price: '1.0',
  at: '2026-01-31T12:00:00.000Z',
  letters: 'a',
  ...changes
})

t.test('rows in memory are written as the serializer writes them', async (t) => {
  const all: readonly object[] = [
    {},
    { note: null },
    { note: 5 },
    { code: 'x' },
    { whole: 1.5 },
    { whole: 10n },
    { whole: '7' },
    { large: 2 ** 53 },
    { rate: Number.NaN },
    { rate: '0.50' },
    { rate: -0 },
    { rate: 1e21 },
    { active: 'yes' },
    { at: new Date(0) },
    { at: new Date(Number.NaN) },
    { title: undefined },
    { title: null },
    { state: 'ajar' },
    { day: null },
    { title: '\ud800' },
    { extra: true },
    { title: ['a', 'b'] },
    { title: { toJSON: () => 'x' } }
  ]
  for (const changes of all) {
    const rows = [row({}), row(changes), row({})]
    const app = await service(t, async (query) => {
      const page = runArray(rows, query)
      return { ...page, rows: page.rows }
    })
    await compareInMemory(t, app, rows)
  }
})

// A hook that reads the rows leaves them to the serializer.
async function serializing(t: Test, rows: readonly Thing[]) {
  const app = await service(t, async (query) => runArray(rows, query))
  app.addHook('preSerialization', async (_request, _reply, payload) => [...(payload as Thing[])])
  return app.inject('/text/page/exact')
}

async function compareInMemory(t: Test, app: FastifyInstance, rows: readonly Thing[]) {
  const written = await app.inject('/text/page/exact')
  const other = await serializing(t, rows)
  t.equal(written.statusCode, other.statusCode)
  if (written.statusCode === 200) t.same(written.json().data, other.json().data, 'the items are equal')
  t.match(written.body, other.statusCode === 200 ? other.body.slice(8, other.body.indexOf(']')) : /"code":/)
}
