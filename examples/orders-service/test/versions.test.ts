import t from 'tap'
import { startService } from './service.ts'

// These values are responses, whose shape the tests check.
// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any

const service = await startService(t)
const { call, anyone } = service
const { data: orders } = (await call('GET', '/v2/orders?perPage=10')).body

t.test('in version 2 the total of an order is an amount with a currency; everything else is the same as in version 1', async (t) => {
  for (const { id, total, ...others } of orders) {
    const { data } = (await call('GET', `/v1/orders/${id}`)).body
    t.strictSame({ id, ...others, total: total.amount, currency: total.currency }, data)
    t.strictSame((await call('GET', `/v2/orders/${id}`)).body.data, { id, total, ...others })
  }
})

t.test('every response of version 2 with an order has its total in this form', async (t) => {
  const [category] = (await call('GET', '/v2/categories')).body.data
  const [customer] = (await call('GET', '/v2/customers')).body.data
  const product = await call('POST', '/v2/products', { name: 'Rye Bread', categoryId: category.id, unitPrice: '3.33', unitsInStock: 9 })
  const items = [{ productId: product.body.data.id, quantity: 3 }]
  const placed = await call('POST', '/v2/orders', { customerId: customer.id, items })
  t.equal(placed.status, 201)
  t.strictSame(placed.body.data.total, { amount: '9.99', currency: 'EUR' })
  t.notOk('currency' in placed.body.data)
  const changed = await call('PATCH', `/v2/orders/${placed.body.data.id}`, { note: 'Ring twice.' })
  t.strictSame(changed.body.data, { ...placed.body.data, note: 'Ring twice.' })
  const inFirst = await call('GET', `/v1/orders/${placed.body.data.id}`, undefined, { 'accept-encoding': 'identity' })
  const again = { 'if-match': String(inFirst.headers['etag']) }
  t.equal((await call('PATCH', `/v2/orders/${placed.body.data.id}`, { note: 'Once.' }, again)).status, 200, 'valid in both versions')
})

t.test(
  'a client of version 2 that prefers problem documents gets its errors in this form, one of version 1 does not [E4] [S3]',
  async (t) => {
    const asProblem = { accept: 'application/problem+json, application/json;q=0.9', 'idempotency-key': 'problem-document' }
    const [customer] = (await call('GET', '/v2/customers')).body.data
    const order = { customerId: customer.id, items: [{ productId: '018f4e2a-7c1b-7d3e-9a5f-0123456789ab', quantity: 1 }] }
    const problem = await call('POST', '/v2/orders', order, asProblem)
    t.equal(problem.headers['content-type'], 'application/problem+json')
    t.match(problem.body, {
      type: 'https://shop.example/problem-types#UNKNOWN_PRODUCT',
      status: 422,
      code: 'UNKNOWN_PRODUCT',
      effect: 'none',
      errors: [{ pointer: '#/items/0/productId' }],
      version: 'v2'
    })
    const replay = await call('POST', '/v2/orders', order, asProblem)
    t.equal(replay.headers['idempotency-replayed'], 'true')
    t.strictSame(replay.body, problem.body)
    const inEnvelope = await call('POST', '/v2/orders', order, { 'idempotency-key': 'problem-document' })
    t.match(inEnvelope.body.error, { code: 'UNKNOWN_PRODUCT', errors: [{ field: 'body.items.0.productId' }] })
    const first = await call('POST', '/v1/orders', order, { ...asProblem, 'idempotency-key': 'in-version-1' })
    t.match(first.body.error, { code: 'UNKNOWN_PRODUCT' })
  }
)

t.test('links in responses of version 2 lead to version 2', async (t) => {
  const [{ id }] = orders
  const [product] = (await call('GET', '/v2/products?perPage=1')).body.data
  for (const path of [
    '/v2/orders?perPage=2&sort=total',
    `/v2/orders/${id}`,
    `/v2/products/${product.id}`,
    '/v2/categories',
    '/v2/nothing'
  ]) {
    const { body } = await call('GET', path)
    t.equal(body._meta.version, 'v2')
    for (const { rel, href } of body._links) t.match(href, /^https:\/\/shop\.example\/v2\//, `${rel} of ${path}`)
  }
  const exported = await call('POST', '/v2/order-exports', {})
  t.match(exported.headers['location'], /^https:\/\/shop\.example\/v2\/order-exports\//)
})

t.test('lists of version 2 are sorted and filtered by the amount', async (t) => {
  const amounts = (await call('GET', '/v2/orders?sort=total&perPage=100')).body.data.map(({ total }: Loose) => Number(total.amount))
  t.strictSame(
    amounts,
    amounts.toSorted((a: number, b: number) => a - b)
  )
  const middle = amounts[Math.floor(amounts.length / 2)]
  const above = (await call('GET', `/v2/orders?total%5Bgt%5D=${middle}&perPage=100`)).body
  t.strictSame(
    above.data.map(({ total }: Loose) => Number(total.amount)).toSorted(),
    amounts.filter((one: number) => one > middle).toSorted()
  )
  const walked: string[] = []
  for (let href = '/v2/orders?sort=-total&perPage=7'; href !== undefined; ) {
    const { body } = await call('GET', href.replace('https://shop.example', ''))
    walked.push(...body.data.map(({ id }: Loose) => id))
    href = body._links.find(({ rel }: Loose) => rel === 'next')?.href
  }
  t.equal(new Set(walked).size, amounts.length)
  t.equal(walked.length, amounts.length)
})

t.test('lists of version 2 return the requested fields, a total with its currency', async (t) => {
  const [order] = (await call('GET', '/v2/orders?perPage=1')).body.data
  for (const fields of ['total', 'total,status', 'status', 'placedAt,note']) {
    const [first] = (await call('GET', `/v2/orders?fields=${fields}&perPage=1`)).body.data
    const wanted = ['id', ...fields.split(',')].filter((name) => name in order)
    t.strictSame(first, Object.fromEntries(wanted.map((name) => [name, order[name]])), fields)
  }
  const { status, body } = await call('GET', '/v2/orders?fields=currency')
  t.equal(status, 422)
  t.equal(body.error.errors[0].field, 'query.fields')
})

t.test('every response of version 1 has its end date and its successor; version 2 is current [V5] [V6]', async (t) => {
  for (const path of ['/v1/orders', '/v1/nothing']) {
    const { headers } = await call('GET', path)
    t.equal(headers['deprecation'], '@1793491200')
    t.equal(headers['sunset'], 'Tue, 31 Dec 2030 00:00:00 GMT')
    t.match(
      headers['link'],
      /<https:\/\/docs\.example\.com\/[^>]+>; rel="deprecation".*<https:\/\/shop\.example\/v2>; rel="successor-version"/
    )
  }
  t.notOk('deprecation' in (await call('GET', '/v2/orders')).headers)
  t.match((await call('GET', '/')).body.data.versions, [
    { version: 'v1', status: 'deprecated', href: 'https://shop.example/v1', sunsetAt: '2030-12-31T00:00:00.000Z' },
    { version: 'v2', status: 'current', href: 'https://shop.example/v2' }
  ])
})

t.test('version 2 has every operation of version 1, imports of products and summaries of orders', async (t) => {
  const [first, second] = [await operations('v1'), await operations('v2')]
  t.ok(first.length > 10)
  const added = [
    '/order-summaries get',
    '/product-imports get,post',
    '/product-imports/{id} delete,get',
    '/product-imports/{id}/result get'
  ]
  t.strictSame(second.toSorted(), [...first, ...added].toSorted())
})

t.test('version 2 includes the customer of an order and the category of a product, as far as the caller may read them', async (t) => {
  const customers: Loose[] = (await call('GET', '/v2/customers?perPage=100')).body.data
  const listed: Loose[] = (await call('GET', '/v2/orders?include=customer&perPage=10')).body.data
  for (const order of listed) {
    const { customer, ...plain } = order
    t.strictSame(
      customer,
      customers.find(({ id }) => id === order.customerId)
    )
    t.strictSame((await call('GET', `/v2/orders/${order.id}?include=customer`)).body.data, order)
    t.strictSame((await call('GET', `/v2/orders/${order.id}`)).body.data, plain)
  }
  const [chosen] = (await call('GET', '/v2/orders?include=customer&fields=total,customer.companyName&perPage=1')).body.data
  const [{ id, total, customer }] = listed
  t.strictSame(chosen, { id, total, customer: { id: customer.id, companyName: customer.companyName } })

  const ada = await service.as('ada@example.com')
  const own: Loose[] = (await ada('GET', '/v2/orders?include=customer&perPage=100')).body.data
  for (const { customerId, customer } of own) t.match(customer, { id: customerId, companyName: String })
  t.strictSame(new Set(own.map(({ customerId }) => customerId)).size, 1)
  t.equal((await service.as('admin@example.com').then((admin) => admin('GET', '/v2/orders?include=customer'))).status, 403)

  const categories: Loose[] = (await call('GET', '/v2/categories')).body.data
  for (const product of (await anyone.request('GET', '/v2/products?include=category&perPage=100')).body.data) {
    t.strictSame(
      product.category,
      categories.find(({ id }) => id === product.categoryId)
    )
  }
  const [{ id: productId }] = (await call('GET', '/v2/products?perPage=1')).body.data
  t.match((await anyone.request('GET', `/v2/products/${productId}?include=category`)).body.data, { category: { name: String } })
})

t.test('an unknown relation is invalid, and version 1 has none', async (t) => {
  const [product] = (await call('GET', '/v2/products?perPage=1')).body.data
  for (const [path, allowed] of [
    ['/orders', 'customer'],
    [`/orders/${orders[0].id}`, 'customer'],
    ['/products', 'category'],
    [`/products/${product.id}`, 'category']
  ] as const) {
    const { status, body } = await call('GET', `/v2${path}?include=owner`)
    t.equal(status, 422)
    t.strictSame(body.error.errors, [{ field: 'query.include', message: `must list only these relations: ${allowed}` }])
    const first = await call('GET', `/v1${path}?include=${allowed}`)
    t.equal(first.status, 422)
    t.match(first.body.error.errors, [{ field: 'query.include', message: 'is not a known parameter' }])
    t.notMatch((await call('GET', `/v1${path}`)).text, /"(?:customer|category)":/)
  }
})

async function operations(version: string) {
  const { paths } = (await anyone.inject(`/${version}/openapi`)).json<{ paths: Record<string, object> }>()
  return Object.entries(paths).map(([path, item]) => `${path.replace(`/${version}/`, '/')} ${Object.keys(item).toSorted().join()}`)
}
