// Clients that are generated from the description: the service behaves as their types state.
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { describedFetch, webhookReceiver } from '@concordat/testing'
import createClient from 'openapi-fetch'
import t, { type Test } from 'tap'
import { password, startService } from '../service.ts'
import { clientTypesFile, clientTypesOf } from './client/generate.ts'
import type { components, paths } from './client/v2.ts'

type Filterable = '/v2/products' | '/v2/customers' | '/v2/orders' | '/v2/webhook-subscriptions/{id}/deliveries'
type Query<Path extends Filterable> = NonNullable<paths[Path]['get']['parameters']['query']>
type Filters<Path extends Filterable, Row> = readonly [Query<Path>, (row: Row) => boolean][]
type Product = components['schemas']['Product']
type Customer = components['schemas']['Customer']
type Order = components['schemas']['Order']
type Delivery = components['schemas']['WebhookDelivery']

const { app } = await startService(t, { publicUrl: undefined, rateLimit: 'on', localWebhooks: true })
await app.listen({ host: '127.0.0.1', port: 0 })
const api = createClient<paths>({ baseUrl: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`, fetch: describedFetch })
const signedIn = await api.POST('/v2/tokens', { body: { username: 'ops@example.com', password } })
api.use({
  onRequest({ request }) {
    request.headers.set('authorization', `Bearer ${signedIn.data?.data.accessToken}`)
  }
})
const document = (await app.inject('/v2/openapi')).json()

const products = (query: Query<'/v2/products'> = {}) => api.GET('/v2/products', { params: { query: { perPage: 100, ...query } } })
const customers = (query: Query<'/v2/customers'> = {}) => api.GET('/v2/customers', { params: { query: { perPage: 100, ...query } } })
const deliveriesPath = '/v2/webhook-subscriptions/{id}/deliveries'
const orders = (query: Query<'/v2/orders'> = {}) => api.GET('/v2/orders', { params: { query: { perPage: 100, ...query } } })

t.test('the types of the client match the description', async (t) => {
  const types = await clientTypesOf(document)
  t.ok(readFileSync(clientTypesFile, 'utf8') === types, 'the types are out of date. Run: pnpm fix')
})

t.test('every operator of every filter does what its name says, when the typed client uses it [Q5] [Q6] [Q13]', async (t) => {
  const called = new Set<string>()

  const allProducts = rowsOf(await products())
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

  const allCustomers = rowsOf(await customers())
  const { country: home } = allCustomers[3] as Customer
  const customerFilters: Filters<'/v2/customers', Customer> = [[{ country: home }, ({ country }) => country === home]]
  for (const [query, holds] of customerFilters) same('/v2/customers', query, await customers(query), allCustomers.filter(holds))

  const allOrders = rowsOf(await orders())
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
  const deliveries = (query: Query<typeof deliveriesPath> = {}) => api.GET(deliveriesPath, { params: { path: { id }, query } })
  const deliveryFilters: Filters<typeof deliveriesPath, Delivery> = (['delivered', 'pending', 'failed'] as const).map((wanted) => [
    { status: wanted },
    ({ status }) => status === wanted
  ])
  for (const [query, holds] of deliveryFilters) same(deliveriesPath, query, await deliveries(query), allDeliveries.filter(holds))

  const sorted = rowsOf(await orders({ sort: '-total', fields: ['total'] }))
  t.strictSame(
    sorted.map(({ total }) => Number(total.amount)),
    allOrders.map(({ total }) => Number(total.amount)).toSorted((a, b) => b - a)
  )
  t.strictSame(describedFilters(), [...called].toSorted(), 'every operator was used')

  function same(path: string, query: object, received: ListResult<{ id: string }>, expected: readonly { id: string }[]) {
    const [name] = Object.keys(query)
    called.add(`${path} ${name}`)
    t.strictSame(idsOf(dataOf(received)), idsOf(expected), `${path} ${JSON.stringify(query)}: ${expected.length}`)
  }
})

t.test('a typed client places an order, handles an error by its code, and changes the order that it read', async (t) => {
  const [product] = rowsOf(
    await api.GET('/v2/products', { params: { query: { discontinued: false, sort: '-unitPrice', perPage: 100 } } })
  ).filter(({ unitsInStock }) => unitsInStock > 2)
  const [customer] = rowsOf(await api.GET('/v2/customers'))
  const place = (quantity: number) =>
    api.POST('/v2/orders', {
      params: { header: { 'Idempotency-Key': crypto.randomUUID() } },
      body: { customerId: customer?.id as string, items: [{ productId: product?.id as string, quantity }] }
    })
  const { data, response } = await place(2)
  t.equal(response.status, 201)
  t.equal(Number(data?.data.total.amount), 2 * Number(product?.unitPrice))
  const { error } = await place(10_000)
  t.equal(error?.error.code, 'INSUFFICIENT_STOCK')
  const changed = await api.PATCH('/v2/orders/{id}', {
    params: { path: { id: data?.data.id as string }, header: { 'If-Match': response.headers.get('etag') as string } },
    body: { note: 'Ring twice.' }
  })
  t.equal(changed.data?.data.note, 'Ring twice.')
})

interface ListResult<Row> {
  readonly data?: { readonly data: Row[] }
  readonly error?: unknown
}

function dataOf<Row>({ data, error }: ListResult<Row>): Row[] {
  if (data === undefined) throw new Error(JSON.stringify(error))
  return data.data
}

/** The whole resource in the type of a response, whose alternative requires only the id. */
type Whole<Row> = Row extends unknown ? (Record<never, never> extends Omit<Row, 'id'> ? never : Row) : never

/** Returns the rows of a response to a request without `fields`. */
function rowsOf<Row>(result: ListResult<Row>): Whole<Row>[] {
  return dataOf(result) as Whole<Row>[]
}

function idsOf(rows: readonly { id: string }[]): string[] {
  return rows.map(({ id }) => id).toSorted()
}

/** Subscribes to changes of products, and makes two changes, of which one is delivered. */
async function deliver(t: Test, productId: string) {
  const { url, next, trust } = await webhookReceiver(t, { respond: (number) => (number === 1 ? 204 : 500) })
  const body = { url, eventTypes: ['product.updated'], ordered: false, signature: 'hmac-sha256' as const }
  const made = await api.POST('/v2/webhook-subscriptions', { body })
  const id = made.data?.data.id as string
  trust(made.data?.data.secret as string)
  for (const unitsInStock of [71, 72]) {
    await api.PATCH('/v2/products/{id}', { params: { path: { id: productId } }, body: { unitsInStock } })
    await next()
  }
  for (;;) {
    const allDeliveries = rowsOf(await api.GET(deliveriesPath, { params: { path: { id } } }))
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
