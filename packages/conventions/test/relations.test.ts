import { randomUUID } from 'node:crypto'
import { ownTokens } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import conventions, { serverOptions } from '@concordat/conventions'
import { responseChecker } from '@concordat/openapi/testing'
import { collection, many, one } from '@concordat/pagination-query'
import { runSql, type SqlSource } from '@concordat/pagination-query/sql'
import { Type } from '@sinclair/typebox'
import Fastify, { type FastifyRequest } from 'fastify'
import { Pool } from 'pg'
import t, { type Test } from 'tap'
import { z } from 'zod'

const url = process.env['TEST_DATABASE_URL']
const skip = url === undefined && 'TEST_DATABASE_URL is not set'
const publicUrl = 'https://shop.example'
const kit = testKit({ issuer: publicUrl, audience: 'shop' })
const reader = (permissions: string, sub = 'ada') => ({ authorization: `Bearer ${kit.token({ sub, scope: permissions })}` })
const everything = reader('orders:read customers:read items:read')

const ids = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, index) => `${prefix}0000000-0000-4000-8000-00000000000${index}`)
const [ada = '', max = '', gone = ''] = ids(3, 'c')
const [first = '', second = '', third = '', lost = ''] = ids(4, 'a')

const tables = `
  create table customers (id uuid primary key, company_name text not null, email text, owner text not null);
  create table orders (id uuid primary key, customer_id uuid, total numeric not null, placed_at timestamptz not null, version int not null default 1);
  create table order_items (id bigint primary key, order_id uuid not null, quantity int not null, large bigint not null);
  create index on order_items (order_id, quantity, id);
  insert into customers values ('${ada}', 'Ada''s', null, 'ada'), ('${max}', 'Max', 'max@example.com', 'max');
  insert into orders values ('${first}', '${ada}', 10, '2026-01-01'), ('${second}', '${max}', 20, '2026-01-02T00:00:00.123456Z'),
    ('${third}', null, 30, '2026-01-03'), ('${lost}', '${gone}', 40, '2026-01-04');
  insert into order_items select n, '${first}', 1, 9007199254740993 from generate_series(1, 3) n;
  insert into order_items values (10, '${second}', 5, 1), (11, '${second}', 4, 1);`

interface Schemas {
  readonly Customer: never
  readonly Order: never
  readonly Item: never
}

const uuid = Type.String({ format: 'uuid' })
const decimal = Type.String({ format: 'decimal' })
const libraries: Readonly<Record<string, Schemas>> = {
  TypeBox: {
    Customer: Type.Object({ id: uuid, companyName: Type.String({ maxLength: 80 }), email: Type.Optional(Type.String()) }),
    Order: Type.Object({ id: uuid, customerId: Type.Optional(uuid), total: decimal, placedAt: Type.String({ format: 'date-time' }) }),
    Item: Type.Object({
      id: Type.String({ format: 'int64' }),
      orderId: uuid,
      quantity: Type.Integer(),
      large: Type.String({ format: 'int64' })
    })
  } as unknown as Schemas,
  Zod: {
    Customer: z.strictObject({ id: z.uuid(), companyName: z.string().max(80), email: z.string().optional() }),
    Order: z.strictObject({
      id: z.uuid(),
      customerId: z.uuid().optional(),
      total: z.string().meta({ format: 'decimal' }),
      placedAt: z.iso.datetime({ offset: true })
    }),
    Item: z.strictObject({
      id: z.string().meta({ format: 'int64' }),
      orderId: z.uuid(),
      quantity: z.int(),
      large: z.string().meta({ format: 'int64' })
    })
  } as unknown as Schemas
}

const ownCustomers = (request: FastifyRequest): SqlSource =>
  request.principal?.subject === 'staff' ? {} : { where: { text: 'owner = $1', values: [request.principal?.subject] } }

function collectionsOf({ Customer, Order, Item }: Schemas) {
  const customers = collection(Customer as object)({
    name: 'customers',
    style: 'page',
    id: 'id',
    defaultSort: ['id'],
    sort: { keys: ['id'] }
  } as never)
  const items = collection(Item as object)({
    name: 'order-items',
    style: 'page',
    id: 'id',
    defaultSort: ['id'],
    sort: { keys: ['id', 'quantity'] }
  } as never)
  const relations = {
    customer: one(customers, { key: 'customerId', permission: 'customers:read', source: ownCustomers }),
    items: many(items, { key: 'orderId', permission: 'items:read', sort: '-quantity', max: 2 }),
    buyer: one(customers, { key: 'customerId', permission: 'public' })
  }
  return collection(Order as object)({
    name: 'orders',
    style: 'page',
    id: 'id',
    defaultSort: ['id'],
    sort: { keys: ['id'] },
    filter: { customerId: ['eq'] },
    relations
  } as never)
}

async function openTables(t: Test) {
  const statements: string[] = []
  const schema = `relations_${randomUUID().replaceAll('-', '')}`
  const pool = new Pool({ connectionString: url, max: 1, options: `-c search_path=${schema}` })
  await pool.query(`create schema ${schema}`)
  await pool.query(tables)
  t.teardown(async () => {
    await pool.query(`drop schema ${schema} cascade`)
    await pool.end()
  })
  const query = async (text: string, values: unknown[] = []) => {
    statements.push(text)
    return pool.query<object>(text, values)
  }
  return { statements, client: { query } }
}

async function start(t: Test, schemas: Schemas) {
  const { statements, client } = await openTables(t)
  const orders = collectionsOf(schemas)
  const app = Fastify(serverOptions())
  t.teardown(() => app.close())
  await app.register(conventions, {
    publicUrl,
    versions: { 1: {} },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: {
      issuers: [ownTokens({ issuer: publicUrl, audience: 'shop', keys: kit.keys })],
      permissions: ['orders:read', 'customers:read', 'items:read']
    }
  })
  const list = (schemas.Order as { parse?: unknown }).parse === undefined ? Type.Array(schemas.Order) : z.array(schemas.Order)
  const validator = async ({ params }: FastifyRequest) => {
    const { rows } = await client.query('select version from orders where id = $1', [(params as { id: string }).id])
    return { exists: true, etag: (rows[0] as { version: number }).version }
  }
  await app.apiVersion(1, async (v1) => {
    v1.get(
      '/orders',
      { config: { permissions: ['orders:read'], collection: orders }, schema: { response: { 200: list } } },
      async (request, reply) => reply.page(await runSql(client, request.listQuery(orders)))
    )
    const config = { permissions: ['orders:read'], projection: { id: 'id', relationsOf: orders }, validator }
    const params = Type.Object({ id: Type.String() })
    v1.get('/orders/:id', { config, schema: { params, response: { 200: schemas.Order } } }, async (request) => {
      const { rows } = await client.query(
        `select id, customer_id as "customerId", total::text, to_char(placed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "placedAt" from orders where id = $1`,
        [(request.params as { id: string }).id]
      )
      const [{ customerId, ...row } = {}] = rows as { customerId?: string | null }[]
      return request.withIncluded(client, customerId ? { ...row, customerId } : row)
    })
  })
  await app.ready()
  const check = responseChecker((await app.inject('/v1/openapi')).json())
  const get = async (path: string, headers: object = everything) => {
    statements.length = 0
    const response = await app.inject({ url: `/v1${path}`, headers: headers as Record<string, string> })
    const { statusCode: status, rawPayload: body } = response
    t.strictSame(check({ method: 'GET', url: `/v1${path}`, status, headers: response.headers, body }), [], path)
    return response
  }
  return { app, client, statements, get, orders }
}

for (const [library, schemas] of Object.entries(libraries))
  t.test(`${library}: include embeds an object or null, and lists with a limit, with one statement each`, { skip }, async (t) => {
    const { get, statements, client } = await start(t, schemas)
    const page = (await get('/orders?include=customer,items')).json()
    t.strictSame(
      page.data.map(({ customer, items }: { customer: unknown; items: unknown }) => ({ customer, items })),
      [
        {
          customer: { id: ada, companyName: "Ada's" },
          items: { items: [3, 2].map((n) => ({ id: `${n}`, orderId: first, quantity: 1, large: '9007199254740993' })), more: true }
        },
        // Of another owner, as if it did not exist.
        {
          customer: null,
          items: {
            items: [
              { id: '10', orderId: second, quantity: 5, large: '1' },
              { id: '11', orderId: second, quantity: 4, large: '1' }
            ],
            more: false
          }
        },
        { customer: null, items: { items: [], more: false } },
        { customer: null, items: { items: [], more: false } }
      ]
    )
    t.equal(page.data[1].placedAt, '2026-01-02T00:00:00.123456Z')
    const counted = statements.filter((text) => !text.includes('pg_typeof')).length
    t.equal(counted, 3, 'the page and one statement for each relation')

    // The same when it is repeated, and with fields of both.
    for (let time = 0; time < 4; time += 1) t.strictSame((await get('/orders?include=customer,items')).json().data, page.data)
    const chosen = (await get('/orders?include=customer,items&fields=total,customer.companyName,items.quantity&perPage=1')).json()
    t.strictSame(chosen.data, [
      {
        id: first,
        total: '10',
        customer: { id: ada, companyName: "Ada's" },
        items: {
          items: [
            { id: '3', quantity: 1 },
            { id: '2', quantity: 1 }
          ],
          more: true
        }
      }
    ])
    t.match(chosen._links.find(({ rel }: { rel: string }) => rel === 'next').href, /include=customer,items/)
    t.strictSame((await get('/orders?include=customer&fields=customer.companyName&perPage=1')).json().data, [
      { id: first, customer: { id: ada, companyName: "Ada's" } }
    ])
    const plain = (await get('/orders')).json().data
    t.notOk(plain.some((row: object) => 'customer' in row))
    t.strictSame((await get(`/orders?include=items&customerId=${gone}`)).json().data[0].items, { items: [], more: false })
    t.strictSame((await get('/orders?include=items&customerId=c0000000-0000-4000-8000-000000000009')).json().data, [])

    const item = await get(`/orders/${first}?include=customer,buyer&fields=customer.companyName,total`)
    t.strictSame(item.json().data, {
      id: first,
      total: '10',
      customer: { id: ada, companyName: "Ada's" },
      buyer: { id: ada, companyName: "Ada's" }
    })
    t.equal(statements.length, 3)
    t.strictSame((await get(`/orders/${third}?include=customer,items`)).json().data.customer, null)

    // A validator of the order alone would answer 304.
    const tagged = async (path: string, tag: string) => get(path, { ...everything, 'if-none-match': tag })
    for (const path of [`/orders/${first}?include=customer`, '/orders?include=customer&perPage=1']) {
      const before = await get(path)
      t.equal((await tagged(path, String(before.headers['etag']))).statusCode, 304)
      await client.query('update customers set company_name = $1', [path])
      const after = await tagged(path, String(before.headers['etag']))
      t.match(after, { statusCode: 200 })
      t.match(after.payload, path)
      t.not(after.headers['etag'], before.headers['etag'])
    }
    t.equal((await tagged(`/orders/${first}`, String((await get(`/orders/${first}`)).headers['etag']))).statusCode, 304)
  })

t.test('refuses what is not declared, and clients without the permission', { skip }, async (t) => {
  const { get, app } = await start(t, libraries['TypeBox'] as Schemas)
  const cases: readonly (readonly [query: string, field: string, message: string])[] = [
    ['include=owner', 'query.include', 'must list only these relations: customer, items, buyer'],
    ['include=', 'query.include', 'must list only these relations: customer, items, buyer'],
    ['include=customer.orders', 'query.include', 'must list only these relations: customer, items, buyer'],
    ['include=customer,customer', 'query.include', 'must not list a relation more than once'],
    ['include=customer&include=customer', 'query.include', 'must not list a relation more than once'],
    ['fields=customer.email', 'query.fields', 'must not select fields of customer unless include has customer'],
    ['include=items&fields=customer.email', 'query.fields', 'must not select fields of customer unless include has customer']
  ]
  for (const path of ['/orders', `/orders/${first}`])
    for (const [query, field, message] of cases) {
      const response = await get(`${path}?${query}`)
      t.equal(response.statusCode, 422, query)
      t.strictSame(response.json().error.errors, [{ field, message }], `${path}?${query}`)
    }
  t.match((await get('/orders?include=customer&fields=customer.password')).json().error.errors[0], { field: 'query.fields' })
  for (const path of ['/orders', `/orders/${first}`]) {
    const refused = await get(`${path}?include=customer`, reader('orders:read items:read'))
    t.match(refused.json().error, { status: 403, code: 'INSUFFICIENT_PERMISSION' })
    t.equal((await get(`${path}?include=items`, reader('orders:read items:read'))).statusCode, 200)
    t.equal((await get(`${path}?include=buyer`, reader('orders:read'))).statusCode, 200)
  }
  const { paths } = (await app.inject('/v1/openapi')).json()
  for (const path of ['/v1/orders', '/v1/orders/{id}'])
    t.match(
      paths[path].get.parameters.find(({ name }: { name: string }) => name === 'include'),
      {
        schema: { items: { enum: ['customer', 'items', 'buyer'] } }
      }
    )
})
