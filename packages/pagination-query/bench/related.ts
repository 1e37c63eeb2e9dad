// node --conditions=@concordat/source bench/related.ts [--rows=1000000] [--rounds=400], with TEST_DATABASE_URL: compares a page of 50 orders with the
// customer and the items of each with statements that are written by the service, both in a route of Fastify. Requests alternate, results are medians and the fastest tenth, and
// both responses must be the same. The tables are created in a schema of its own, which is dropped at the end.
import { availableParallelism, loadavg } from 'node:os'
import { isDeepStrictEqual, parseArgs } from 'node:util'
import paginationQuery, { collection, many, one } from '@concordat/pagination-query'
import { preparePages, runSql } from '@concordat/pagination-query/sql'
import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import { Pool } from 'pg'

const { values: options } = parseArgs({
  options: { rows: { type: 'string', default: '1000000' }, rounds: { type: 'string', default: '400' } }
})
const rows = Number(options.rows)
const rounds = Number(options.rounds)
const perPage = 50
const max = 5
const schema = `related_bench_${process.pid}`

const Id = Type.String({ format: 'uuid' })
const Customer = Type.Object({ id: Id, name: Type.String({ maxLength: 80 }), country: Type.String({ maxLength: 2 }) })
const Item = Type.Object({ id: Id, orderId: Id, quantity: Type.Integer(), unitPrice: Type.String({ format: 'decimal' }) })
const Order = Type.Object({
  id: Id,
  customerId: Id,
  placedAt: Type.String({ format: 'date-time' }),
  total: Type.String({ format: 'decimal' })
})
const listed = { style: 'page', id: 'id', defaultSort: ['id'], sort: { keys: ['id'] } } as const
const customers = collection(Customer)({ ...listed, name: 'customers' })
const items = collection(Item)({ ...listed, name: 'items' })
const orders = collection(Order)({
  name: 'orders',
  style: 'cursor',
  id: 'id',
  defaultSort: ['-placedAt'],
  sort: { keys: ['placedAt'] },
  filter: { placedAt: ['lt'], 'customer.country': ['eq'] },
  count: 'none',
  perPage: { default: perPage },
  relations: {
    customer: one(customers, { key: 'customerId', permission: 'public' }),
    items: many(items, { key: 'orderId', permission: 'public', sort: 'id', max })
  }
})

const pool = new Pool({ connectionString: process.env['TEST_DATABASE_URL'], max: 1, options: `-c search_path=${schema}` })
pool.on('connect', preparePages)

async function createTables() {
  await pool.query(`create schema ${schema}`)
  await pool.query(`
    create unlogged table customers as select gen_random_uuid() as id, 'Customer ' || n as name, (array['ES', 'FR', 'DE', 'IT'])[n % 4 + 1] as country
      from generate_series(1, ${Math.ceil(rows / 20)}) n;
    create unlogged table orders as select gen_random_uuid() as id, c.id as customer_id, timestamptz '2024-01-01' + n * interval '1 minute' as placed_at,
      (n % 9999 / 100.0)::numeric(12, 2) as total from generate_series(1, ${rows}) n
      join (select id, row_number() over () as number from customers) c on c.number = n % ${Math.ceil(rows / 20)} + 1;
    create unlogged table items as select gen_random_uuid() as id, o.id as order_id, 1 + n as quantity, 2.50::numeric(12, 2) as unit_price
      from orders o, generate_series(0, (extract(epoch from o.placed_at) / 60)::bigint % 3) n;
    alter table customers add primary key (id);
    alter table orders add primary key (id);
    alter table items add primary key (id);
    create index on orders (placed_at, id);
    create index on orders (customer_id);
    create index on customers (country);
    create index on items (order_id, id);
    analyze customers; analyze orders; analyze items;`)
}

const time = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
const written = {
  page: `select id, customer_id as "customerId", ${time('placed_at')} as "placedAt", total::text from orders where placed_at < $1
    order by orders.placed_at desc, id desc limit ${perPage + 1}`,
  customers: 'select id, name, country from customers where id = any($1)',
  items: `select i.* from unnest($1::uuid[]) as u (id) cross join lateral (select id, order_id as "orderId", quantity, unit_price::text as "unitPrice"
    from items where order_id = u.id order by items.id limit ${max + 1}) i`
}

interface Listed {
  readonly id: string
  readonly customerId: string
}

// Prepared, as the statements of pages.
async function run<Row>(name: keyof typeof written, values: unknown[]) {
  return (await pool.query({ name: `written_${name}`, text: written[name], values })).rows as Row[]
}

async function writtenPage(before: string) {
  const page = (await run<Listed>('page', [before])).slice(0, perPage)
  const others = await run<{ id: string }>('customers', [[...new Set(page.map(({ customerId }) => customerId))]])
  const byId = new Map(others.map((customer) => [customer.id, customer]))
  const lists = new Map<string, object[]>()
  for (const item of await run<{ orderId: string }>('items', [page.map(({ id }) => id)])) {
    const list = lists.get(item.orderId)
    if (list === undefined) lists.set(item.orderId, [item])
    else list.push(item)
  }
  return page.map((order) => {
    const list = lists.get(order.id) ?? []
    return { ...order, customer: byId.get(order.customerId) ?? null, items: { items: list.slice(0, max), more: list.length > max } }
  })
}

const spent = { ours: [] as number[], written: [] as number[] }

async function openApp() {
  const app = Fastify()
  await app.register(paginationQuery, { cursor: { secrets: ['w8K!3fPz-0aQm7Rx+2LdVt5Yc9Hj6NbE'] } })
  app.get('/orders', { config: { collection: orders }, schema: { response: { 200: Type.Array(Order) } } }, async (request, reply) => {
    const start = performance.now()
    const page = await runSql(pool, request.listQuery(orders))
    spent.ours.push(performance.now() - start)
    return reply.page(page)
  })
  const Whole = Type.Object({
    ...Order.properties,
    customer: Type.Union([Customer, Type.Null()]),
    items: Type.Object({ items: Type.Array(Item), more: Type.Boolean() })
  })
  // Without it, a list is refused.
  const config = { waivers: { Q10: 'it is written without a collection' } }
  app.get('/written', { config, schema: { response: { 200: Type.Array(Whole) } } }, async (request) => {
    const start = performance.now()
    const page = await writtenPage((request.query as { before: string }).before)
    spent.written.push(performance.now() - start)
    return page
  })
  await app.ready()
  return app
}

function quantile(times: readonly number[], part: number) {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * part)] as number
}

function median(times: readonly number[]) {
  return quantile(times, 0.5)
}

// The fastest tenth is the least disturbed by other programs.
function printLine(name: string, ours: readonly number[], theirs: readonly number[]) {
  for (const [part, place] of [
    ['median', 0.5],
    ['fastest tenth', 0.1]
  ] as const) {
    const [own, other] = [quantile(ours, place), quantile(theirs, place)]
    console.log(`${name}, ${part}: ${own.toFixed(2)} ms, written by the service ${other.toFixed(2)} ms: ${(own / other).toFixed(2)}`)
  }
}

async function measure() {
  const app = await openApp()
  const whole = { ours: [] as number[], written: [] as number[] }
  const plain: number[] = []
  const filtered: number[] = []
  const timed = async (url: string, times: number[]) => {
    const start = performance.now()
    const { payload, statusCode } = await app.inject(url)
    times.push(performance.now() - start)
    if (statusCode !== 200) throw new Error(payload)
    return JSON.parse(payload) as unknown
  }
  for (let round = 0; round < rounds; round += 1) {
    // A list has no page that all rounds repeat.
    const before = new Date(Date.UTC(2024, 0, 1) + Math.floor((0.1 + 0.9 * Math.random()) * rows) * 60_000).toISOString()
    const list = `/orders?placedAt%5Blt%5D=${before}`
    const requests = [() => timed(`${list}&include=customer,items`, whole.ours), () => timed(`/written?before=${before}`, whole.written)]
    const turned = round % 2 === 1
    const [first, second] = turned ? requests.toReversed() : requests
    const [one, other] = [await first?.(), await second?.()]
    if (!isDeepStrictEqual(one, other)) throw new Error(`${JSON.stringify(one)}\n${JSON.stringify(other)}`)
    await timed(list, plain)
    spent.ours.pop()
    await timed(`${list}&customer.country=ES`, filtered)
    spent.ours.pop()
    if (round === Math.floor(rounds / 4))
      for (const times of [plain, filtered, ...Object.values(whole), ...Object.values(spent)]) times.length = 0
  }
  await app.close()
  printLine('statements and rows', spent.ours, spent.written)
  printLine('response', whole.ours, whole.written)
  console.log(`without relations: ${median(plain).toFixed(2)} ms; filtered by customer.country: ${median(filtered).toFixed(2)} ms`)
  console.log(`${rows} orders, ${rounds} rounds, ${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)}`)
}

try {
  await createTables()
  await measure()
} finally {
  await pool.query(`drop schema if exists ${schema} cascade`)
  await pool.end()
}
