import conventions, { auditTrailRoutes, serverOptions } from '@concordat/conventions'
import type { Collection } from '@concordat/pagination-query'
import { checkIndexes } from '@concordat/pagination-query/check-indexes'
import { fromPGlite, fromPool, migrate } from '@concordat/postgres'
import { postgresAuditTrailStore } from '@concordat/postgres/audit-trail'
import { PGlite } from '@electric-sql/pglite'
import Fastify from 'fastify'
import { Pool } from 'pg'
import t from 'tap'
import { categoryCollection } from '../src/categories/schemas.ts'
import { customerCollection } from '../src/customers/schemas.ts'
import { migrations } from '../src/database/open-database.ts'
import { imageCollection } from '../src/images/schemas.ts'
import { summaryCollection } from '../src/order-summaries/schemas.ts'
import { ordersOfV2 } from '../src/orders/representations.ts'
import { itemCollection } from '../src/orders/schemas.ts'
import { productsWithCategory } from '../src/products/schemas.ts'
import { freshPlace } from './service.ts'

// The same database that the service creates, but open to statements that the service never sends.
async function migrated() {
  const { databaseUrl, dataFolder } = await freshPlace(t)
  if (databaseUrl === undefined) {
    const engine = await PGlite.create(dataFolder)
    t.teardown(() => engine.close())
    await migrate(fromPGlite(engine), migrations)
    return engine
  }
  const pool = new Pool({ connectionString: databaseUrl })
  t.teardown(() => pool.end())
  await migrate(fromPool(pool), migrations)
  return pool
}

/** Returns the collection of the route that the preset adds for audit records. */
async function auditCollection() {
  const collections: Collection[] = []
  const app = Fastify(serverOptions())
  t.teardown(() => app.close())
  app.addHook('onRoute', ({ config }) => void (config?.collection && collections.push(config.collection)))
  await app.register(conventions, {
    publicUrl: 'https://shop.example',
    versions: { 1: {} },
    authentication: false,
    paginationQuery: { cursor: { secrets: ['w8K!3fPz-0aQm7Rx+2LdVt5Yc9Hj6NbE'] } },
    stores: { auditTrail: postgresAuditTrailStore(fromPool(new Pool())) }
  })
  await app.apiVersion(1, async (v1) => {
    await v1.register(auditTrailRoutes)
  })
  return collections[0] as Collection
}

const database = await migrated()
const someone = '018f4e2a-7c1b-7d3e-9a5f-000000000001'
const where = (column: string) => ({ where: { text: `${column} = $1`, values: [someone] } })
const amounts = 'few rows have exactly the same amount'
const names = 'few customers have the same name'

// Sorted by the first key, an index gives rows in groups that are small, whatever the direction of the second key.
function combined(first: string, second: string, reason: string) {
  const orders = [first, `-${first}`].flatMap((key) => [`sort.${key},${second}`, `sort.${key},-${second}`])
  return Object.fromEntries(orders.map((order) => [order, reason]))
}

for (const [name, collection, source, waive, relatedSources] of [
  ['categories', categoryCollection, {}, {}],
  ['products', productsWithCategory, {}, { 'filter.unitPrice[eq]': amounts, ...combined('unitPrice', 'name', amounts) }],
  ['images of a product', imageCollection, { columns: { sizeBytes: { sql: 'octet_length(content)' } }, ...where('product_id') }, {}],
  ['customers', customerCollection, {}, combined('companyName', 'createdAt', names)],
  ['all orders', ordersOfV2.collection, {}, { 'filter.total[eq]': amounts, ...combined('total', 'placedAt', amounts) }, { customer: {} }],
  [
    'orders of a customer',
    ordersOfV2.collection,
    where('customer_id'),
    { 'filter.total[eq]': amounts, ...combined('total', 'placedAt', amounts) },
    { customer: where('id') }
  ],
  ['items of an order', itemCollection, where('order_id'), {}],
  ['order summaries', summaryCollection, {}, {}],
  [
    'audit records',
    await auditCollection(),
    { table: 'concordat.audit_records' },
    { 'filter.outcome[eq]': 'successes are most records, and the others have an index of their own' }
  ]
] as const) {
  t.test(`${name}: every sort and filter has an index that supports it [Q12]`, async (t) => {
    await t.resolves(checkIndexes(database, collection, source, { waive, relatedSources }))
  })
}
