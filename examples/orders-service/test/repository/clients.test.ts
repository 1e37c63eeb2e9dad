// The client that is generated from the description: the service behaves as its types state. `pnpm check generated` compares the file with the
// description.
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient, createSession, isCode } from '@concordat/client'
import { describedFetch, webhookReceiver } from '@concordat/testing'
import t, { type Test } from 'tap'
import { password, startService } from '../service.ts'
import { api, type Customer, type GetOperations, type Order, type Product, type WebhookDelivery } from './shop.ts'

const deliveriesPath = '/v2/webhook-subscriptions/{id}/deliveries'
type Filterable = '/v2/products' | '/v2/customers' | '/v2/orders' | typeof deliveriesPath
type Query<Path extends Filterable> = NonNullable<NonNullable<GetOperations[Path]['args'][0]>['query']>
type Filters<Path extends Filterable, Row> = readonly [Query<Path>, (row: Row) => boolean][]

const { app } = await startService(t, { publicUrl: undefined, rateLimit: 'on', localWebhooks: true })
await app.listen({ host: '127.0.0.1', port: 0 })
const session = createSession(api)
const shop = createClient(api, {
  baseUrl: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`,
  fetch: describedFetch,
  session
})
await session.signIn({ username: 'ops@example.com', password })
const document = (await app.inject('/v2/openapi')).json()

const products = (query: Query<'/v2/products'> = {}) => shop.get('/v2/products', { query: { perPage: 100, ...query } })
const customers = (query: Query<'/v2/customers'> = {}) => shop.get('/v2/customers', { query: { perPage: 100, ...query } })
const orders = (query: Query<'/v2/orders'> = {}) => shop.get('/v2/orders', { query: { perPage: 100, ...query } })

t.test('every operator of every filter does what its name says, when the typed client uses it [Q5] [Q6] [Q13]', async (t) => {
  const called = new Set<string>()

  const allProducts = await products()
  const product = allProducts[30] as Product
  const price = Number(product.unitPrice)
  const productFilters: Filters<'/v2/products', Product> = [
    [{ categoryId: product.categoryId }, ({ categoryId }) => categoryId === product.categoryId],
    [
      { 'categoryId[in]': [product.categoryId, (allProducts[1] as Product).categoryId] },
      ({ categoryId }) => [product.categoryId, allProducts[1]?.categoryId].includes(categoryId)
    ],
    [{ unitPrice: product.unitPrice }, ({ unitPrice }) => Number(unitPrice) === price],
    [{ 'unitPrice[gt]': product.unitPrice }, ({ unitPrice }) => Number(unitPrice) > price],
    [{ 'unitPrice[gte]': product.unitPrice }, ({ unitPrice }) => Number(unitPrice) >= price],
    [{ 'unitPrice[lt]': product.unitPrice }, ({ unitPrice }) => Number(unitPrice) < price],
    [{ 'unitPrice[lte]': product.unitPrice }, ({ unitPrice }) => Number(unitPrice) <= price],
    [{ discontinued: true }, ({ discontinued }) => discontinued],
    [{ name: product.name }, ({ name }) => name === product.name],
    [{ 'name[ne]': product.name }, ({ name }) => name !== product.name],
    [{ 'name[prefix]': product.name.slice(0, 1) }, ({ name }) => name.startsWith(product.name.slice(0, 1))]
  ]
  for (const [query, holds] of productFilters) same('/v2/products', query, await products(query), allProducts.filter(holds))

  const allCustomers = await customers()
  const { country: home } = allCustomers[3] as Customer
  const customerFilters: Filters<'/v2/customers', Customer> = [[{ country: home }, ({ country }) => country === home]]
  for (const [query, holds] of customerFilters) same('/v2/customers', query, await customers(query), allCustomers.filter(holds))

  const allOrders = await orders()
  const order = allOrders[12] as Order
  const amount = Number(order.total.amount)
  const orderFilters: Filters<'/v2/orders', Order> = [
    [{ status: order.status }, ({ status }) => status === order.status],
    [{ 'status[ne]': order.status }, ({ status }) => status !== order.status],
    [{ 'status[in]': ['paid', 'pending'] }, ({ status }) => status === 'paid' || status === 'pending'],
    [{ customerId: order.customerId }, ({ customerId }) => customerId === order.customerId],
    [{ 'placedAt[gt]': order.placedAt }, ({ placedAt }) => placedAt > order.placedAt],
    [{ 'placedAt[gte]': order.placedAt }, ({ placedAt }) => placedAt >= order.placedAt],
    [{ 'placedAt[lt]': order.placedAt }, ({ placedAt }) => placedAt < order.placedAt],
    [{ 'placedAt[lte]': order.placedAt }, ({ placedAt }) => placedAt <= order.placedAt],
    [{ total: order.total.amount }, ({ total }) => Number(total.amount) === amount],
    [{ 'total[gt]': order.total.amount }, ({ total }) => Number(total.amount) > amount],
    [{ 'total[gte]': order.total.amount }, ({ total }) => Number(total.amount) >= amount],
    [{ 'total[lt]': order.total.amount }, ({ total }) => Number(total.amount) < amount],
    [{ 'total[lte]': order.total.amount }, ({ total }) => Number(total.amount) <= amount]
  ]
  for (const [query, holds] of orderFilters) same('/v2/orders', query, await orders(query), allOrders.filter(holds))

  const { id, allDeliveries } = await deliver(t, product.id)
  const deliveries = (query: Query<typeof deliveriesPath> = {}) => shop.get(deliveriesPath, { path: { id }, query })
  const deliveryFilters: Filters<typeof deliveriesPath, WebhookDelivery> = (['delivered', 'pending', 'failed'] as const).map((wanted) => [
    { status: wanted },
    ({ status }) => status === wanted
  ])
  for (const [query, holds] of deliveryFilters) same(deliveriesPath, query, await deliveries(query), allDeliveries.filter(holds))

  const sorted = await shop.get('/v2/orders', { query: { sort: '-total', fields: ['total'], perPage: 100 } })
  t.strictSame(
    sorted.map(({ total }) => Number(total.amount)),
    allOrders.map(({ total }) => Number(total.amount)).toSorted((a, b) => b - a)
  )
  t.strictSame(describedFilters(), [...called].toSorted(), 'every operator was used')

  function same(path: string, query: object, received: readonly { id: string }[], expected: readonly { id: string }[]) {
    const [name] = Object.keys(query)
    called.add(`${path} ${name}`)
    t.strictSame(idsOf(received), idsOf(expected), `${path} ${JSON.stringify(query)}: ${expected.length}`)
  }
})

t.test('a client places an order, handles an error by its code, and changes the order that it read', async (t) => {
  const stocked = (await products({ discontinued: false, sort: '-unitPrice' })).filter(({ unitsInStock }) => unitsInStock > 2)
  const [product, [customer]] = [stocked[0] as Product, await customers()]
  const place = (quantity: number) =>
    shop.post('/v2/orders', { body: { customerId: customer?.id, items: [{ productId: product.id, quantity }] } })
  const { data, response } = await place(2).withResponse()
  t.equal(response.status, 201)
  t.equal(Number(data.total.amount), 2 * Number(product.unitPrice))
  const refused = await place(10_000).result()
  t.ok(!refused.ok && isCode(refused.error, 'INSUFFICIENT_STOCK'))
  const changed = await shop.update('/v2/orders/{id}', { path: { id: data.id }, from: { data, response } }, () => ({ note: 'Ring twice.' }))
  t.equal(changed.note, 'Ring twice.')
})

t.test('a client uploads a Blob, and reads what became of it', async (t) => {
  const body = new FormData()
  body.set('file', new Blob(['name,categoryId,unitPrice,currency,unitsInStock\nTea'], { type: 'text/csv' }))
  body.set('dryRun', 'true')
  const job = await shop.job('/v2/product-imports', { body })
  t.match(await job.result(), { dryRun: true, created: 0, refused: 1, refusals: [{ line: 2, reason: 'must have 5 fields' }] })
})

function idsOf(rows: readonly { id: string }[]): string[] {
  return rows.map(({ id }) => id).toSorted()
}

/** Subscribes to changes of products, and makes two changes, of which one is delivered. */
async function deliver(t: Test, productId: string) {
  const { url, next, trust } = await webhookReceiver(t, { respond: (number) => (number === 1 ? 204 : 500) })
  const body = { url, eventTypes: ['product.updated'], ordered: false, signature: 'hmac-sha256' as const }
  const { id, secret } = await shop.post('/v2/webhook-subscriptions', { body })
  trust(secret as string)
  for (const unitsInStock of [71, 72]) {
    await shop.patch('/v2/products/{id}', { path: { id: productId }, body: { unitsInStock } })
    await next()
  }
  for (;;) {
    const allDeliveries = await shop.get(deliveriesPath, { path: { id } })
    if (allDeliveries.every(({ attempts }) => attempts === 1)) return { id, allDeliveries }
    await delay(20)
  }
}

// Every filter of the description, in the form that a query uses.
function describedFilters(): string[] {
  const paths = Object.entries<Record<string, Record<string, Record<string, string[]>>>>(document.paths)
  return (
    paths
      // These lists belong to the preset, whose tests have their filters.
      .filter(([path]) => path !== '/v2/version-clients' && path !== '/v2/audit-records')
      .flatMap(([path, { get }]) =>
        Object.entries(get?.['x-filterable'] ?? {}).flatMap(([field, operators]) =>
          operators.map((operator) => `${path} ${operator === 'eq' ? field : `${field}[${operator}]`}`)
        )
      )
      .toSorted()
  )
}
