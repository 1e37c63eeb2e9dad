// node --conditions=@concordat/source bench/depth.ts [--keep] [--rows=1000000] [--rounds=200] [--contrast=3], with TEST_DATABASE_URL:
// compares the time of a deep page of a large table with the time of the first page, with and without prepared pages, and with the
// usual alternatives.
// The table is created in the schema pagination_bench, which is dropped at the end, or kept for the next run with --keep.
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { type ListQuery, rangesFrom } from '@concordat/pagination-query'
import { preparePages, runSql } from '@concordat/pagination-query/sql'
import { escapeLiteral, Pool } from 'pg'
import type { SqlText } from '../src/declaration/sql-source.ts'
import { readSource } from '../src/sql/source.ts'
import { pageStatement } from '../src/sql/statement.ts'

type SortKey = ListQuery['order'][number]

interface Order {
  readonly id: string
}

interface Plan {
  readonly 'Node Type': string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Index Cond'?: string
  readonly 'Rows Removed by Filter'?: number
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
  readonly Plans?: readonly Plan[]
}

const { values: options } = parseArgs({
  options: {
    contrast: { type: 'string', default: '3' },
    keep: { type: 'boolean' },
    rows: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '200' }
  }
})
const rows = Number(options.rows)
const rounds = Number(options.rounds)
const depth = Math.floor(rows * 0.9)
const target = 1.2
const perPage = 25

const keys = {
  price: { field: 'price', kind: 'decimal', nullable: false },
  createdAt: { field: 'createdAt', kind: 'date-time', nullable: false },
  rating: { field: 'rating', kind: 'integer', nullable: true },
  status: { field: 'status', kind: 'enum', nullable: false },
  id: { field: 'id', kind: 'uuid', nullable: false }
} as const
const shapes: readonly (readonly [string, readonly SortKey[]])[] = [
  ['same direction: price,id', [up('price'), up('id')]],
  ['mixed: -price,createdAt,id', [down('price'), up('createdAt'), up('id')]],
  ['nullable: rating,id', [up('rating'), up('id')]],
  ['low cardinality: status,-id', [up('status'), down('id')]]
]

const settings = { connectionString: process.env['TEST_DATABASE_URL'], max: 1, options: '-c search_path=pagination_bench' }
const pool = new Pool(settings)
const preparing = new Pool(settings)
preparing.on('connect', preparePages)
const table = readSource({ name: 'orders' }, {})
// As a query builder writes it.
const built = { table: { sql: 'select "orders".* from "orders" where "orders"."price" >= $1', values: ['0'] } }
try {
  await makeTable()
  console.log(`${rows} rows; page of ${perPage} at row ${depth} against page 1; medians of ${rounds} interleaved rounds\n`)
  const ratios: Record<string, number>[] = []
  for (const [name, order] of shapes) ratios.push(await measureShape(name, order))
  const worst = (how: string) => Math.max(...ratios.flatMap((shape) => [shape[`SQL${how}`] as number, shape[`query${how}`] as number]))
  // PostgreSQL takes a tenth of a millisecond more to parse and plan a statement with two ranges, on the second page and on the last.
  console.log(`worst ratio ${worst('').toFixed(2)}; of prepared pages ${worst(' prepared').toFixed(2)}, target ${target}`)
  if (worst(' prepared') > target) process.exitCode = 1
} finally {
  if (!options.keep) await pool.query('drop schema if exists pagination_bench cascade')
  await pool.end()
  await preparing.end()
}

async function measureShape(name: string, order: readonly SortKey[]) {
  const first = query(order)
  const { last } = await runSql<Order>(pool, { ...first, offset: depth - 1, perPage: 1 })
  if (!last) throw new Error(`Row ${depth} does not exist.`)
  const deep = { ...first, ranges: rangesFrom(order, last, false) }
  const offset = { ...first, offset: depth }
  const alternatives: [string, SqlText][] = [
    ['OFFSET', pageStatement(offset, table)],
    ['OR form', orForm(order, last)]
  ]
  const wanted = await runSql(pool, offset)
  for (const page of [await runSql(pool, deep), await runSql(pool, deep, built)]) {
    if (!isDeepStrictEqual(page, wanted)) throw new Error(`${name}: the page at row ${depth} is not the page that OFFSET finds.`)
  }

  const works = {
    'SQL 1': () => runSql(pool, first),
    'SQL deep': () => runSql(pool, deep),
    'query 1': () => runSql(pool, first, built),
    'query deep': () => runSql(pool, deep, built),
    'SQL prepared 1': () => runSql(preparing, first),
    'SQL prepared deep': () => runSql(preparing, deep),
    'query prepared 1': () => runSql(preparing, first, built),
    'query prepared deep': () => runSql(preparing, deep, built)
  }
  const times = await interleaved(works, rounds)
  console.log(`${name}   (${deep.ranges.length} ${deep.ranges.length === 1 ? 'range' : 'ranges'})`)
  const ratios: Record<string, number> = {}
  for (const adapter of ['SQL', 'query', 'SQL prepared', 'query prepared']) {
    const [page1 = [], deepPage = []] = [times[`${adapter} 1`], times[`${adapter} deep`]]
    // Paired by round, because a temporary slowdown of the machine affects both.
    const ratio = median(deepPage.map((taken, round) => taken / (page1[round] as number)))
    ratios[adapter] = ratio
    const said = `page 1 ${milliseconds(median(page1))}   deep ${milliseconds(median(deepPage))}   ratio ${ratio.toFixed(2)}`
    console.log(`  ${adapter.padEnd(15)} ${said}`)
  }
  for (const [label, statement] of Number(options.contrast) > 0 ? alternatives : []) {
    const slow = await interleaved({ [label]: () => pool.query(statement.text, [...statement.values]) }, Number(options.contrast))
    console.log(`  ${label.padEnd(15)} ${' '.repeat(18)} deep ${milliseconds(median(slow[label]))}   ${await describePlan(statement)}`)
  }
  console.log(`  plan     page 1:   ${await describePlan(pageStatement(first, table))}`)
  console.log(`  plan     deep:     ${await describePlan(pageStatement(deep, table), true)}`)
  console.log(`  plan     prepared: ${await describePreparedPlan(pageStatement(deep, table))}\n`)
  return ratios
}

// The usual cursor condition, `a > x OR (a = x AND b > y)`, with the tests for null that it needs.
function orForm(order: readonly SortKey[], key: readonly (string | null)[]): SqlText {
  const statement = pageStatement(query(order), table)
  const columns = ['price', 'created_at', 'rating', 'status', 'id'].filter((name) => order.some(({ field }) => snake(field) === name))
  const types = { price: 'numeric', created_at: 'timestamptz', rating: 'bigint', status: 'text', id: 'uuid' } as const
  const terms = order.map(({ descending, nullable }, index) => {
    const same = order.slice(0, index).map((_, before) => test(before, '='))
    return `(${[...same, beyond(index, descending, nullable)].join(' and ')})`
  })
  return {
    text: statement.text.replace(' order by', ` where ${terms.join(' or ')} order by`),
    values: key.filter((value) => value !== null)
  }

  function test(index: number, operator: string) {
    const column = snake(order[index]?.field as string)
    if (!columns.includes(column)) throw new Error(column)
    if (key[index] === null) return `${column} is null`
    const position = key.slice(0, index + 1).filter((value) => value !== null).length
    return `${column} ${operator} $${position}::text::${types[column as keyof typeof types]}`
  }

  function beyond(index: number, descending: boolean, nullable: boolean) {
    if (key[index] === null) return descending ? `${snake(order[index]?.field as string)} is not null` : 'false'
    const compared = test(index, descending ? '<' : '>')
    return nullable && !descending ? `(${compared} or ${snake(order[index]?.field as string)} is null)` : compared
  }
}

/** Returns the description of a plan. With `flat`, it throws if the cost depends on the depth of the page. */
async function describePlan({ text, values }: SqlText, flat = false): Promise<string> {
  const response = await pool.query(`explain (analyze, buffers, format json) ${text}`, [...values])
  const [{ Plan }] = response.rows[0]['QUERY PLAN'] as [{ Plan: Plan }]
  const nodes = [...nodesOf(Plan)]
  const scans = nodes.filter((node) => node['Node Type'].includes('Scan') && !node['Node Type'].startsWith('Subquery'))
  const removed = nodes.reduce((sum, node) => sum + (node['Rows Removed by Filter'] ?? 0), 0)
  const read = scans.reduce((sum, node) => sum + node['Actual Rows'] * node['Actual Loops'], 0)
  const conditions = scans.map((node) => node['Index Cond'] ?? 'none').join('; ')
  const kinds = [...new Set(nodes.map((node) => node['Node Type']))].join(', ')
  const said = `${kinds}; ${Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks']} buffers; ${read} rows read, ${removed} removed by filters`
  if (!flat) return said
  const bad = scans.some((node) => !node['Node Type'].startsWith('Index') || !node['Index Cond']) || removed > 0 || read > perPage * 4
  if (bad) throw new Error(`The plan is not flat: ${said}; index conditions: ${conditions}`)
  return `${said}\n           index conditions: ${conditions}`
}

/** Returns the generic plan that PostgreSQL may use for all values of a prepared statement. */
async function describePreparedPlan({ text, values }: SqlText): Promise<string> {
  const literals = values.map((value) => escapeLiteral(String(value)))
  await pool.query(`set plan_cache_mode = force_generic_plan; prepare deep as ${text}`)
  try {
    return await describePlan({ text: `execute deep (${literals.join(', ')})`, values: [] }, true)
  } finally {
    await pool.query('deallocate deep; reset plan_cache_mode')
  }
}

function* nodesOf(plan: Plan): Generator<Plan> {
  yield plan
  for (const inner of plan.Plans ?? []) yield* nodesOf(inner)
}

async function interleaved(works: Record<string, () => Promise<unknown>>, times: number) {
  const taken: Record<string, number[]> = Object.fromEntries(Object.keys(works).map((name) => [name, []]))
  for (let round = -1; round < times; round += 1) {
    for (const [name, work] of Object.entries(works)) {
      const start = performance.now()
      await work()
      if (round >= 0) taken[name]?.push(performance.now() - start)
    }
  }
  return taken
}

function median(values: readonly number[] = []): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] as number
}

function milliseconds(value: number) {
  return `${value.toFixed(2)} ms`.padStart(10)
}

function query(order: readonly SortKey[]): ListQuery<Order> {
  const fields = ['id', 'status', 'rating', 'price', 'createdAt']
  const kinds = Object.fromEntries(Object.values(keys).map(({ field, kind }) => [field, kind]))
  return {
    name: 'orders',
    id: 'id',
    conditions: [],
    order,
    fields,
    kinds,
    perPage,
    reverse: false,
    offset: 0,
    ranges: [{ equal: [] }],
    count: 'none'
  }
}

function up(field: keyof typeof keys): SortKey {
  return { ...keys[field], descending: false }
}

function down(field: keyof typeof keys): SortKey {
  return { ...keys[field], descending: true }
}

function snake(name: string) {
  return name.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`)
}

async function makeTable() {
  const { rows: found } = await pool.query(`select to_regclass('pagination_bench.orders') as name`)
  if (found[0].name !== null) return
  await pool.query('create schema if not exists pagination_bench')
  await pool.query(`create table orders as
    select gen_random_uuid() as id,
      (array['open', 'paid', 'sent', 'returned', 'closed'])[1 + floor(random() * 5)::int] collate "C" as status,
      case when random() < 0.3 then null else floor(random() * 5)::int end as rating,
      (floor(random() * 100000) / 100)::numeric as price,
      timestamptz '2026-01-01' - random() * interval '1000 days' as created_at
    from generate_series(1, ${rows})`)
  await pool.query('create index on orders (price, id)')
  await pool.query('create index on orders (price desc, created_at, id)')
  await pool.query('create index on orders (rating, id)')
  await pool.query('create index on orders (status, id desc)')
  await pool.query('vacuum analyze orders')
}
