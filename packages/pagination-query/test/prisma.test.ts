import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type ListQuery, type Operator, rangesFrom, type ValueKind } from '@concordat/pagination-query'
import { runPrisma } from '@concordat/pagination-query/prisma'
import { adapterContract, type OpenSample, type SampleRow } from '@concordat/pagination-query/testing'
import { childEnvironment } from '@concordat/test-harness/child'
import { casesOf } from '@concordat/test-harness/contract-cases'
import { generateClient } from '@concordat/test-harness/prisma-client'
import { scaled } from '@concordat/test-harness/scale'
import { PrismaPg } from '@prisma/adapter-pg'
import t from 'tap'
import { openSchema, skip } from './postgres.ts'
import { openSampleTable } from './sample-table.ts'
import { wholeList } from './whole-list.ts'

type SortKey = ListQuery['order'][number]
type PrismaDelegate = Parameters<typeof runPrisma>[0]

interface Client {
  readonly item: PrismaDelegate
  readonly introspected: PrismaDelegate
  readonly ticket: PrismaDelegate
  $disconnect(): Promise<void>
}

const models = `
model Item {
  id        String   @id @db.Uuid
  title     String
  status    String
  rating    Int?
  price     Decimal
  createdAt DateTime @map("created_at") @db.Timestamptz(6)
  day       DateTime? @db.Date
  views     BigInt
  active    Boolean
  @@map("item")
}
model Introspected {
  id         String   @id @db.Uuid
  title      String
  status     String
  rating     Int?
  price      Decimal
  created_at String
  day        DateTime? @db.Date
  views      BigInt
  active     Boolean
  @@map("introspected")
}
enum State {
  waiting
  active
  done
}
model Ticket {
  id     Int    @id
  state  State
  weight Float?
  size   Int?
  @@map("ticket")
}`

t.test('Prisma on PostgreSQL', { skip }, async (t) => {
  const pool = await openSchema(t)
  const { rows } = await pool.query('select current_schema() as schema')
  const { schema } = rows[0]
  const { Client, folder } = await generateClient(t, join(import.meta.dirname, '..'), models)
  const connect = (timeZone: string) => {
    const options = `-c search_path=${schema} -c timezone=${timeZone}`
    const client = new (Client as new (options: object) => Client)({
      adapter: new PrismaPg({ connectionString: process.env['TEST_DATABASE_URL'] as string, options }, { schema })
    })
    t.teardown(() => client.$disconnect())
    return client
  }
  const client = connect('UTC')

  const openAs = async (model: 'item' | 'introspected'): Promise<OpenSample> => {
    const sample = await openSampleTable(pool)
    await pool.query(`create view ${model} as select * from ${sample.name}`)
    const close = async () => {
      await pool.query(`drop view ${model}`)
      await sample.close()
    }
    return { ...sample, close, run: (query) => runPrisma(client[model], query) }
  }
  // A walk takes about 0.1 s, several times as long as with SQL: Prisma compiles each query, and reads the ranges one after another.
  t.test('Prisma', async (t) => adapterContract(casesOf(t), () => openAs('item'), { finestTime: 'milliseconds', walks: scaled(25, 100) }))
  t.test('Prisma with times as text', async (t) => adapterContract(casesOf(t), () => openAs('introspected'), { walks: scaled(5, 20) }))

  t.test('compares values that a field cannot have like numbers and times', async (t) => {
    await withRows(t, 'item', [
      row(1, { rating: -2147483648, views: '-9223372036854775808' }),
      row(2, { rating: 2147483647, views: '0' }),
      row(3, {})
    ])
    const cases = [
      ['rating', 'integer', '2147483648', { gt: [], gte: [], lt: [1, 2], lte: [1, 2], eq: [], ne: [1, 2, 3] }],
      ['rating', 'integer', '-2147483649', { gt: [1, 2], gte: [1, 2], lt: [], lte: [], eq: [], ne: [1, 2, 3] }],
      ['rating', 'decimal', '-2147483647.5', { gt: [2], gte: [2], lt: [1], lte: [1], eq: [], ne: [1, 2, 3] }],
      ['rating', 'decimal', '2147483647.00', { gt: [], gte: [2], lt: [1], lte: [1, 2], eq: [2], ne: [1, 3] }],
      ['views', 'integer', '9223372036854775808', { gt: [], gte: [], lt: [1, 2, 3], lte: [1, 2, 3], eq: [], ne: [1, 2, 3] }],
      ['views', 'integer', '-9223372036854775809', { gt: [1, 2, 3], gte: [1, 2, 3], lt: [], lte: [], eq: [], ne: [1, 2, 3] }],
      ['createdAt', 'date-time', '2026-01-01T01:00:00.0005+01:00', { gt: [2, 3], gte: [2, 3], lt: [1], lte: [1], eq: [], ne: [1, 2, 3] }],
      ['createdAt', 'date-time', '2026-01-01T00:00:00.001000Z', { gt: [3], gte: [2, 3], lt: [1], lte: [1, 2], eq: [2], ne: [1, 3] }]
    ] as const
    for (const [field, kind, value, wanted] of cases) {
      for (const [operator, numbers] of Object.entries(wanted) as [Operator, readonly number[]][]) {
        const conditions = [{ field, kind, operator, value }]
        const page = await runPrisma(client.item, query({ conditions }))
        t.strictSame(
          page.rows.map(({ title }) => Number(title)),
          numbers,
          `${field} ${operator} ${value}`
        )
      }
    }
  })

  t.test('returns decimals without an exponent and times as text, and bigints unchanged', async (t) => {
    await withRows(t, 'item', [row(1, { price: '0.0000000000000000000000000000001', views: '9007199254740993', day: '2026-03-29' })])
    const kinds = { price: 'decimal', createdAt: 'date-time', day: 'date', views: 'integer' } as const
    const page = await runPrisma(
      client.item,
      query({ fields: ['price', 'createdAt', 'day', 'views'], kinds, order: [key('price', 'decimal'), key('id', 'uuid')] })
    )
    t.strictSame(page.rows, [
      { price: '0.0000000000000000000000000000001', createdAt: '2026-01-01T00:00:00.000Z', day: '2026-03-29', views: 9007199254740993n }
    ])
    t.strictSame(page.first, ['0.0000000000000000000000000000001', id(1)])
    const plain = await runPrisma(client.item, query({ fields: ['createdAt'] }))
    t.strictSame(plain.rows, [{ createdAt: new Date('2026-01-01T00:00:00Z') }], 'a time of unknown kind stays a Date')
  })

  t.test('throws a TypeError for a time that Prisma truncates, only if it is a sort key', async (t) => {
    await withRows(t, 'item', [row(1, { createdAt: '2026-01-01T00:00:00.000001Z' }), row(2, {})])
    const byTime = query({ order: [key('createdAt', 'date-time'), key('id', 'uuid')] })
    await t.rejects(runPrisma(client.item, byTime), { name: 'TypeError', message: /misreads createdAt/ })
    await t.rejects(
      runPrisma(client.item, {
        ...byTime,
        reverse: true,
        perPage: 1,
        ranges: [{ equal: [], beyond: { operator: '<', values: ['2026-01-01T00:00:00.001Z', id(1)] } }]
      }),
      TypeError
    )
    t.equal((await runPrisma(client.item, query({}))).rows.length, 2)
    t.equal(
      (
        await runPrisma(client.item, {
          ...byTime,
          perPage: 1,
          ranges: [{ equal: [], beyond: { operator: '>', values: ['2026-01-01T00:00:00.001Z', id(1)] } }]
        })
      ).rows.length,
      1
    )
  })

  t.test('sorts enums in the order of their choices', async (t) => {
    await pool.query(`create type state as enum ('waiting', 'active', 'done'); alter type state rename to "State"`)
    await pool.query('create table ticket (id integer primary key, state "State" not null, weight double precision, size integer)')
    await pool.query(
      `insert into ticket select number, (array['waiting', 'active', 'done']::"State"[])[number % 3 + 1], nullif(number, 4) / 10.0, 1 from generate_series(0, 9) as number`
    )
    const order = [key('state', 'enum', true), key('weight', 'decimal', true), key('id', 'integer')]
    const tickets = query({ name: 'tickets', fields: ['id', 'state'], order, perPage: 2 })
    const fields = { state: { choices: ['waiting', 'active', 'done'] } }
    const seen: unknown[] = []
    for (let ranges = tickets.ranges; ; ) {
      const page = await runPrisma(client.ticket, { ...tickets, ranges }, { fields })
      seen.push(...page.rows.map((row) => row['id']))
      if (!page.hasMore || !page.last) break
      ranges = rangesFrom(order, page.last, false)
    }
    t.strictSame(seen, [8, 5, 2, 4, 7, 1, 9, 6, 3, 0])
    await t.rejects(runPrisma(client.ticket, tickets), { name: 'TypeError', message: /does not compare enums.*fields\.state\.choices/ })
    const short = { state: { choices: ['active'] } }
    const ranges = rangesFrom(order, ['done', '0.8', '8'], false)
    await t.rejects(runPrisma(client.ticket, { ...tickets, ranges }, { fields: short }), {
      name: 'TypeError',
      message: /does not contain "done"/
    })
  })

  t.test('restricts pages and counts with `where`, and finds fields by name, by snake_case or by mapping', async (t) => {
    await withRows(t, 'introspected', [row(1, { status: 'open' }), row(2, { status: 'held' }), row(3, { status: 'open' })])
    const counted = query({ fields: ['createdAt', 'state'], count: { max: 1 }, perPage: 1 })
    const page = await runPrisma(client.introspected, counted, { where: { status: 'open' }, fields: { state: { name: 'status' } } })
    t.strictSame(page.rows, [{ createdAt: '2026-01-01T00:00:00+00:00', state: 'open' }])
    t.strictSame(page.total, { items: 1, exact: false })
    await t.rejects(runPrisma(client.introspected, counted), { name: 'TypeError', message: /no field state for "state"/ })
    await t.rejects(runPrisma(client.item, query({ fields: ['unitPrice'] })), { message: /no field unitPrice or unit_price/ })
    await t.rejects(runPrisma(client.item, query({ fields: ['__proto__'] })), { message: /no field/ })
  })

  t.test('rejects with the error of the database when it checks for nulls', async (t) => {
    const failing = { ...fieldsOf(client.item), findMany: async () => Promise.reject(new Error('gone')), count: async () => 0 }
    const conditions = [{ field: 'title', kind: 'string', operator: 'ne', value: 'x' }] as const
    await t.rejects(runPrisma(failing, query({ conditions })), { message: 'gone' })
  })

  t.test('checks the type of `where` against the generated client', async (t) => {
    const file = join(folder, 'typed.ts')
    writeFileSync(file, typed)
    const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')
    const options = [
      '--ignoreConfig',
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--exactOptionalPropertyTypes',
      '--module',
      'nodenext',
      '--target',
      'es2024'
    ]
    const args = [...options, '--allowImportingTsExtensions', '--customConditions', '@concordat/source', '--types', 'node', file]
    await t.resolves(promisify(execFile)(process.execPath, [tsc, ...args], { env: childEnvironment() }))
  })

  async function withRows(t: { teardown(work: () => Promise<void>): void }, model: 'item' | 'introspected', rows: readonly SampleRow[]) {
    const sample = await openAs(model)
    t.teardown(() => sample.close())
    await sample.insert(rows)
  }
})

const typed = `
import { runPrisma } from '@concordat/pagination-query/prisma'
import type { ListQuery, Page } from '@concordat/pagination-query'
import type { PrismaClient } from './client/client.ts'
declare const prisma: PrismaClient
declare const query: ListQuery<{ id: string }>
const page: Promise<Page<{ id: string }>> = runPrisma(prisma.item, query, { where: { title: 'a', rating: { gt: 1 } } })
prisma.$transaction((tx) => runPrisma(tx.item, query))
runPrisma(prisma.$extends({}).item, query, { where: { title: 'a' } })
// @ts-expect-error no such field
runPrisma(prisma.item, query, { where: { titel: 'a' } })
// @ts-expect-error another type
runPrisma(prisma.item, query, { where: { title: 1 } })
// @ts-expect-error not a delegate
runPrisma(prisma, query)
export { page }
`

type Row = Readonly<Record<string, unknown>>

function query(changes: Partial<ListQuery<Row>>): ListQuery<Row> {
  return wholeList({ order: [key('id', 'uuid')], fields: ['id', 'title'], ...changes })
}

function key(field: string, kind: ValueKind, descending = false): SortKey {
  return { field, kind, nullable: field === 'weight', descending }
}

function id(number: number) {
  return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
}

// Each row is a millisecond later than the previous row.
function row(number: number, members: Partial<SampleRow>): SampleRow {
  const createdAt = new Date(Date.parse('2026-01-01T00:00:00Z') + number - 1).toISOString()
  return {
    id: id(number),
    title: String(number),
    status: 'open',
    rating: null,
    price: '1',
    createdAt,
    day: null,
    views: '1',
    active: true,
    ...members
  }
}

function fieldsOf({ fields }: PrismaDelegate) {
  return { fields }
}
