// The preset on PostgreSQL: products, orders with keys, and sign-ins, as a small service has them.
import conventions, { serverOptions } from '@concordat/conventions'
import { collection } from '@concordat/pagination-query'
import { runSql } from '@concordat/pagination-query/sql'
import { type Migration, migrate } from '@concordat/postgres'
import { openDatabase } from '@concordat/postgres/open'
import { found, statementsOn, type Versioned } from '@concordat/postgres/rows'
import { signIn, signInMigrations } from '@concordat/postgres/sign-in'
import { postgresStores, storeMigrations } from '@concordat/postgres/stores'
import { postgresTransactions } from '@concordat/postgres/unit-of-work'
import signInRoutes, { passwords, tokenIssuingErrors } from '@concordat/token-issuing'
import Fastify, { type FastifyInstance } from 'fastify'
import {
  logStream,
  type NewOrder,
  newOrderSchema,
  orderSchema,
  password,
  productSchema,
  products,
  publicUrl,
  secret,
  username
} from './resources.ts'

type Product = (typeof products)[number]

const limit = { limit: 1_000_000_000, windowSeconds: 3600 }
const columns = `id, name, category_id AS "categoryId", unit_price AS "unitPrice", currency, units_in_stock AS "unitsInStock", discontinued,
  created_at AS "createdAt", updated_at AS "updatedAt", version`
const productCollection = collection(productSchema)({
  name: 'products',
  style: 'page',
  id: 'id',
  defaultSort: ['name'],
  sort: { keys: ['name', 'createdAt'] },
  filter: { name: ['prefix'] }
})
const tables: Migration = {
  component: 'bench',
  version: 1,
  statements: [
    `CREATE TABLE users (id uuid PRIMARY KEY, email text NOT NULL, password_hash text, roles text[] NOT NULL)`,
    'CREATE UNIQUE INDEX ON users (lower(email))',
    `CREATE TABLE products (id uuid PRIMARY KEY, name text COLLATE "C" NOT NULL, category_id uuid NOT NULL, unit_price numeric(12, 2) NOT NULL,
      currency text NOT NULL, units_in_stock integer NOT NULL, discontinued boolean NOT NULL, created_at timestamptz(3) NOT NULL,
      updated_at timestamptz(3) NOT NULL, version uuid NOT NULL DEFAULT gen_random_uuid())`,
    'CREATE INDEX ON products (name, id)',
    'CREATE INDEX ON products (created_at, id)',
    'CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), customer text NOT NULL, note text, items json NOT NULL)'
  ]
}
const migrations = [...signInMigrations, ...storeMigrations, tables]
const permissions = ['products:read', 'orders:create']
const orderEvent = { description: 'An order was placed.', schema: orderSchema, example: { id: '7', customer: 'ada', items: [] } }

/** With `events`, each order is an event for the subscribers of its customer. */
export async function serve({ databaseUrl = '', events = '' }: Record<string, string> = {}) {
  const database = await openDatabase({ url: databaseUrl, prepare: ({ postgres }) => migrate(postgres, migrations) })
  await database.query('INSERT INTO users VALUES (gen_random_uuid(), $1, $2, $3) ON CONFLICT DO NOTHING', [
    username,
    await passwords().hash(password),
    ['customer']
  ])
  await database.query(
    `INSERT INTO products SELECT id, name, "categoryId", "unitPrice", currency, "unitsInStock", discontinued, "createdAt", "updatedAt"
     FROM jsonb_to_recordset($1) AS product (id uuid, name text, "categoryId" uuid, "unitPrice" numeric, currency text, "unitsInStock" integer,
       discontinued boolean, "createdAt" timestamptz, "updatedAt" timestamptz) ON CONFLICT DO NOTHING`,
    [JSON.stringify(products)]
  )
  const session = signIn({ database, name: 'bench', tokenSecrets: [secret], refreshSecrets: [secret] })
  const queue = events === '' ? undefined : await database.openQueue()
  const app: FastifyInstance = Fastify({ ...serverOptions(), logger: { level: 'info', stream: logStream() } })
  await app.register(conventions, {
    publicUrl,
    versions: { 1: { status: 'current' } },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: { issuers: [session.accessTokens], revocations: session.revocations, permissions, roles: { customer: permissions } },
    stores: { ...postgresStores(database.postgres), ...(queue && { queue }) },
    transactions: postgresTransactions(database.postgres),
    // Counters of all processes would be in Redis; each process counts its own.
    rateLimiting: { addressLimit: limit, clientLimit: limit, overload: { maxEventLoopDelayMs: 60_000 } },
    idempotency: { maxClientBytes: 1e12 },
    errorCatalogue: { include: [tokenIssuingErrors] },
    ...(queue && {
      webhooks: {
        events: { 'order.created': { ...orderEvent, audiences: ({ customer }: { customer: string }) => [customer] } },
        mayReceive: 'everyone',
        worker: false
      }
    })
  })
  await app.apiVersion(1, async (v1) => {
    // Without the limit of sign-ins from one address.
    await v1.register(signInRoutes, { issuer: session.issuer, verify: session.routes.verify })
    v1.get<{ Params: { id: string } }>(
      '/products/:id',
      {
        config: { permissions: ['products:read'], projection: { id: 'id' } },
        schema: { params: { type: 'object', properties: { id: { type: 'string', format: 'uuid' } } }, response: { 200: productSchema } }
      },
      async ({ params }, reply) => {
        const [row] = await database.query<Versioned<Product>>(`SELECT ${columns} FROM products WHERE id = $1`, [params.id])
        reply.entityTag(found(row).version)
        return row
      }
    )
    v1.get(
      '/products',
      {
        config: { permissions: ['products:read'], collection: productCollection },
        schema: { response: { 200: { type: 'array', items: productSchema } } }
      },
      async (request, reply) => reply.page(await runSql(database.client, request.listQuery(productCollection)))
    )
    v1.post<{ Body: NewOrder }>(
      '/orders',
      {
        config: { permissions: ['orders:create'], idempotency: 'required', transaction: true },
        schema: { body: newOrderSchema, response: { 201: orderSchema } }
      },
      async ({ transaction, body }, reply) => {
        const [order] = await statementsOn(transaction).query<NewOrder & { id: string }>(
          'INSERT INTO orders (customer, note, items) VALUES ($1, $2, $3) RETURNING id, customer, items, note',
          [body.customer, body.note ?? null, JSON.stringify(body.items)]
        )
        if (queue !== undefined) await app.webhooks.emit('order.created', order)
        return reply.created(`/orders/${order?.id}`, order)
      }
    )
  })
  if (queue !== undefined) {
    const [subscription] = await database.query(`SELECT id FROM concordat.webhook_subscriptions WHERE owner = 'ada'`)
    await app.ready()
    if (subscription === undefined) await app.webhooks.subscribe('ada', { url: 'https://hooks.example.com', eventTypes: ['order.created'] })
  }
  async function close() {
    await app.close()
    await queue?.close(0)
    await database.close()
  }
  return { app, close }
}
