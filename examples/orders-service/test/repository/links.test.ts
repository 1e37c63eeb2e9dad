import { randomUUID } from 'node:crypto'
import { crawl, startingPoints, type Target, targetsIn } from '@concordat/test-harness/link-crawler'
import { until } from '@concordat/test-harness/until'
import t from 'tap'
import { startService } from '../service.ts'

// Follows every link and every Location of successful responses, in both versions, as three users.

const origin = 'https://shop.example'
const { call, as } = await startService(t, { publicUrl: origin, seedOrders: 40 })
const staff = call

/** Sends every write that responds with a resource, and returns the targets of the responses. */
async function writes(by: typeof call, version: string, isStaff: boolean): Promise<Target[]> {
  const found: Target[] = []
  const send = async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
    const received = await by(method, `/${version}${path}`, body, { 'idempotency-key': randomUUID(), ...headers })
    t.ok(received.status < 300, `${method} ${path} responds with ${received.status}`)
    found.push(...targetsIn(received, `${method} /${version}${path}`))
    return received.body?.data
  }
  const [product] = (await by('GET', `/${version}/products?discontinued=false&sort=-unitPrice&perPage=1`)).body.data
  const [customer] = (await staff('GET', `/${version}/customers?perPage=1`)).body.data
  const items = [{ productId: product.id, quantity: 1 }]
  const order = { items, ...(isStaff && { customerId: customer.id }) }
  const { id } = await send('POST', '/orders', order)
  await send('PATCH', `/orders/${id}`, { note: 'Ring twice.' }, { 'if-match': '*' })
  const item = await send('POST', `/orders/${id}/items`, items[0])
  await send('PATCH', `/orders/${id}/items/${item.id}`, { quantity: 2 })
  await send('POST', `/orders/${id}/cancellations`, {})
  await send('POST', '/order-batches', { operations: [{ id: 'one', method: 'POST', path: `/${version}/orders`, body: order }] })
  const exported = await send('POST', '/order-exports', {})
  await until(async () => (await by('GET', `/${version}/order-exports/${exported.jobId}`)).body.data.status === 'completed')
  const subscription = { url: 'https://hooks.example.com/orders', eventTypes: ['order.created'] }
  const { id: hook } = await send('POST', '/webhook-subscriptions', subscription)
  await send('PATCH', `/webhook-subscriptions/${hook}`, { description: 'Orders' }, { 'if-match': '*' })
  await send('POST', `/webhook-subscriptions/${hook}/secrets`)
  await send('POST', `/webhook-subscriptions/${hook}/pings`)
  await send('POST', `/webhook-subscriptions/${hook}/recoveries`, { since: '2026-01-01T00:00:00Z' })
  await send('POST', '/token-revocations', { token: 'unknown' })
  if (!isStaff) return found
  const added = await send('POST', '/products', { name: 'Nori', categoryId: product.categoryId, unitPrice: '2.10', unitsInStock: 4 })
  await send('PATCH', `/products/${added.id}`, { unitPrice: '2.20' })
  if (version === 'v2') {
    const form = new FormData()
    form.set('file', new Blob(['name,categoryId,unitPrice,currency,unitsInStock'], { type: 'text/csv' }), 'products.csv')
    const { jobId } = await send('POST', '/product-imports', form)
    await until(async () => (await by('GET', `/v2/product-imports/${jobId}`)).body.data.status === 'completed')
  }
  const person = { companyName: 'Links', contactName: 'L', email: `${randomUUID()}@links.example`, country: 'Malta' }
  await send('PATCH', `/customers/${(await send('POST', '/customers', person)).id}`, { contactName: 'M' })
  return found
}

for (const username of ['ada@example.com', 'max@example.com', 'ops@example.com']) {
  t.test(`every link that ${username} gets leads to a resource or to an allowed method [E5]`, async (t) => {
    const by = await as(username)
    for (const version of ['v1', 'v2']) {
      const { paths } = (await call('GET', `/${version}/openapi`)).body
      const start = [...startingPoints(origin, version, paths), ...(await writes(by, version, username.startsWith('ops')))]
      const { problems, kinds } = await crawl(by, origin, start)
      t.strictSame(problems, [])
      t.ok(kinds.length > 40, `${kinds.length} kinds of links`)
      for (const kind of [
        `GET /${version}`,
        'GET /reference',
        `GET /${version}/openapi`,
        `GET /${version}/webhook-subscriptions/{id}/deliveries/{id}`
      ])
        t.ok(kinds.includes(kind), kind)
    }
  })
}

t.test('the list of versions links their descriptions, and each version its own [V5]', async (t) => {
  const related = async (path: string) => {
    const { body } = await call('GET', path)
    return body._links.map(({ rel, href }: { rel: string; href: string }) => `${rel} ${href.slice(origin.length)}`)
  }
  t.strictSame(await related('/'), ['self /', 'service-desc /v2/openapi', 'service-doc /reference'])
  t.strictSame(await related('/v1'), ['self /v1', 'service-desc /v1/openapi', 'service-doc /reference'])
  const { body, headers } = await call('GET', '/v1')
  t.match(body.data, { version: 'v1', status: 'deprecated', href: `${origin}/v1`, sunsetAt: '2030-12-31T00:00:00.000Z' })
  t.match(headers['deprecation'], /^@\d+$/)
  t.equal((await call('GET', '/v1/')).status, 404)
})
