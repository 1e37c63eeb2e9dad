import t from 'tap'
import { startService } from './service.ts'

// These values are responses, whose shape the tests check.
// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any

const { call, anyone } = await startService(t)
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

t.test('version 2 has every operation of version 1', async (t) => {
  const [first, second] = [await operations('v1'), await operations('v2')]
  t.ok(first.length > 10)
  t.strictSame(second, first)
})

async function operations(version: string) {
  const { paths } = (await anyone.inject(`/${version}/openapi`)).json<{ paths: Record<string, object> }>()
  return Object.entries(paths).map(([path, item]) => `${path.replace(`/${version}/`, '/')} ${Object.keys(item).toSorted().join()}`)
}
