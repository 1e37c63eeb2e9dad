// The rules that hold for every response, checked on what a service returns to each operation of its descriptions.
import { randomUUID } from 'node:crypto'
import { type Exchange, pathOf, readDescribed, recorder } from '@concordat/test-harness/exchanges'
import { successesOf, testOptions, testResponses } from '@concordat/test-harness/response-rules'
import { until } from '@concordat/test-harness/until'
import { describedFetch } from '@concordat/testing'
import t from 'tap'
import { startService } from '../service.ts'
import { signIn } from './child.ts'

/** The address of the service that is tested: a running one with the sample data, or one that this file starts. */
const service = process.env['TEST_SERVICE_URL'] ?? (await listeningService())
const { authorization } = await signIn(service)

// Each test knows the shape of the values that it reads.
// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any

async function listeningService() {
  const { app } = await startService(t, { publicUrl: undefined, rateLimit: 'on' })
  return app.listen({ host: '127.0.0.1', port: 0 })
}

const { send, exchanges } = recorder(service, describedFetch, { authorization })

const key = () => ({ 'idempotency-key': randomUUID() })

/** Sends each operation that reads, with the identifiers from the lists, and the operations that write. */
async function explore(version: string) {
  const [product] = (await send('GET', `/${version}/products?discontinued=false&sort=-unitPrice&perPage=1`)).body.data
  const [customer] = (await send('GET', `/${version}/customers?perPage=1`)).body.data
  const items = [{ productId: product.id, quantity: 1 }]
  const order = { customerId: customer.id, items, note: '' }
  const placed = await send('POST', `/${version}/orders`, order, key())
  const one = `/${version}/orders/${placed.body.data.id}`
  await send('POST', `/${version}/orders`, order, { 'idempotency-key': `every-response-${version}` })
  await send('POST', `/${version}/orders`, order, { 'idempotency-key': `every-response-${version}` })
  await send('PATCH', one, { note: 'Ring twice.' }, { 'if-match': '*' })
  await send('POST', `${one}/items`, items[0], key())
  await send('POST', `${one}/cancellations`, { reason: 'Ordered twice.' }, key())
  await send('POST', `/${version}/order-batches`, { operations: [{ id: 'a', method: 'GET', path: one }] }, key())
  const started = await send('POST', `/${version}/order-exports`, {}, key())
  const job = `/${version}/order-exports/${started.body.data.jobId}`
  await until(async () => (await send('GET', job)).body.data.status === 'completed')
  for (const { rel, href } of (await send('GET', job)).body.data._links) if (rel === 'result') await send('GET', pathOf(href))
  if (version === 'v2') await importProducts()
  const hook = { url: 'https://hooks.example.com/orders', eventTypes: ['order.created'] }
  const subscription = `/${version}/webhook-subscriptions/${(await send('POST', `/${version}/webhook-subscriptions`, hook)).body.data.id}`
  await send('POST', `${subscription}/pings`)
  const tea = { name: 'Tea', categoryId: product.categoryId, unitPrice: '3.50' }
  const added = await send('POST', `/${version}/products`, tea, key())
  const it = `/${version}/products/${added.body.data.id}`
  await send('PUT', it, { ...tea, currency: 'EUR', unitsInStock: 1, discontinued: false })
  await send('GET', it, undefined, { 'if-none-match': (await send('GET', it)).headers.get('etag') ?? '' })
  await send('DELETE', it)
  await send('GET', it)
  await readDescribed(send, (await send('GET', `/${version}/openapi`)).body.paths)
  for (const path of ['/', `/${version}`, '/health/live', '/health/ready']) await send('GET', path)
}

async function importProducts() {
  const form = new FormData()
  form.set('file', new Blob(['name,categoryId,unitPrice,currency,unitsInStock\nTea'], { type: 'text/csv' }), 'products.csv')
  const job = pathOf(String((await send('POST', '/v2/product-imports', form, key())).headers.get('location')))
  await until(async () => (await send('GET', job)).body.data.status === 'completed')
  await send('GET', `${job}/result`)
}

await explore('v1')
await explore('v2')
const { paths } = (await send('GET', '/v2/openapi')).body
const successes = successesOf(exchanges)

t.test('many requests were sent, and an empty list is [] [F5]', async (t) => {
  t.ok(exchanges.length > 90, `${exchanges.length} responses`)
  t.ok(exchanges.some(({ method }) => method === 'PUT'))
  t.strictSame((await send('GET', '/v2/products?name=nothing-has-this-name')).body.data, [])
})

testResponses(t, [...exchanges], {
  relations: `attempts cancel category customer deliveries images items ping product recover redeliver result rotate-secret`.split(' '),
  // The staff, who send the requests, do not manage the subscriptions of others.
  isForbidden: (path) => /\/(managed-|version-clients|audit-records)/.test(path)
})
testOptions(t, service, paths)

t.test('an empty text is a value, different from none [F6]', async (t) => {
  const [placed] = exchanges.filter(({ method, path, status }) => method === 'POST' && path === '/v2/orders' && status === 201)
  t.equal(placed?.body.data.note, '')
  const [sample] = (await send('GET', '/v2/orders?sort=placedAt&perPage=100')).body.data.filter((order: Loose) => !('note' in order))
  t.ok(sample, 'an order without a note has no member for it')
})

t.test('a response has the members of its schema and no others [F9]', async (t) => {
  // A product has more columns than its schema has members.
  const { components } = (await send('GET', '/v2/openapi')).body
  const members = Object.keys(components.schemas.Product.properties)
  const products = successes.filter(({ path }) => /^\/v2\/products(\?|$)/.test(path)).flatMap(({ body }) => body.data)
  t.ok(products.length > 0)
  for (const product of products)
    t.strictSame(
      Object.keys(product).filter((name) => !members.includes(name)),
      []
    )
})

async function statusOfList(headers: Record<string, string>) {
  const response = await fetch(`${service}/v2/orders`, { headers })
  await response.arrayBuffer()
  return response.status
}

t.test('each request is judged by its own credentials: no session begins [S2]', async (t) => {
  t.strictSame([await statusOfList({ authorization }), await statusOfList({}), await statusOfList({ authorization })], [200, 401, 200])
})

t.test('expiresIn is the lifetime of the token in seconds [X7]', async (t) => {
  const body = { username: 'ops@example.com', password: 'correct horse battery staple' }
  const { data } = (await send('POST', '/v2/tokens', body)).body
  const claims = JSON.parse(Buffer.from(data.accessToken.split('.')[1], 'base64url').toString())
  t.equal(data.expiresIn, claims.exp - claims.iat)
})

t.test('JSON is the default, requests may have a JSON type of their own, and gzip and Brotli are available [S3] [N4] [N7]', async (t) => {
  for (const accept of ['', '*/*', 'application/*', 'text/html, */*;q=0.1', 'application/json'])
    t.match(
      (await send('GET', '/v2/products', undefined, accept === '' ? {} : { accept })).headers.get('content-type'),
      /^application\/json/
    )
  const [customer] = (await send('GET', '/v2/customers?perPage=1')).body.data
  const changed = (type: string) => send('PATCH', `/v2/customers/${customer.id}`, { contactName: 'N' }, { 'content-type': type })
  t.equal((await changed('application/merge-patch+json')).status, 200)
  t.equal((await changed('application/vnd.unknown+json')).status, 415)
  for (const coding of ['gzip', 'br']) {
    const { headers, body } = await send('GET', '/v2/products?perPage=100', undefined, { 'accept-encoding': coding })
    t.strictSame([headers.get('content-encoding'), body.data.length], [coding, 77])
    t.match(headers.get('vary'), /accept-encoding/i)
  }
})

t.test('dates in bodies are the same in every language [G2]', async (t) => {
  const path = '/v2/orders?perPage=5'
  const [english, spanish] = [await send('GET', path), await send('GET', path, undefined, { 'accept-language': 'es-MX' })]
  t.strictSame(spanish.body.data, english.body.data)
  const wrong = await send('GET', '/v2/orders?status=none', undefined, { 'accept-language': 'es' })
  t.equal(wrong.headers.get('content-language'), 'es')
  t.match(wrong.body._meta.timestamp, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
})

/** Returns the tags and bodies of everything that can be read, without what belongs to the response. */
async function state() {
  const found: [string, unknown, string | null][] = []
  for (const list of [
    'categories',
    'products',
    'customers',
    'orders',
    'order-exports',
    'product-imports',
    'order-summaries',
    'webhook-subscriptions'
  ])
    for (let path: string | undefined = `/v2/${list}?perPage=100`; path !== undefined; ) {
      const { body, headers }: Exchange = await send('GET', path)
      found.push([path, body.data, headers.get('etag')?.split('~')[0] ?? null])
      const next: { href: string } | undefined = body._links.find(({ rel }: Loose) => rel === 'next')
      path = next && pathOf(next.href)
    }
  return found
}

t.test('no GET or HEAD changes anything [M9] [M1]', async (t) => {
  const before = await state()
  const reads = [...new Set(exchanges.filter(({ method, status }) => method === 'GET' && status === 200).map(({ path }) => path))]
  for (const path of reads) for (const method of ['HEAD', 'GET']) await send(method, path)
  t.strictSame(await state(), before)
  t.ok(reads.length > 50)
})

t.test('the states of a job are published, and one that is over leads to its result [J2] [A3]', async (t) => {
  const { components } = (await send('GET', '/v2/openapi')).body
  t.strictSame(components.schemas.OrderExport.properties.status.enum, ['queued', 'processing', 'completed', 'failed', 'cancelled'])
  const ended = exchanges.filter(({ path, body }) => /\/order-exports\/[^/]+$/.test(path) && body?.data?.status === 'completed')
  t.ok(ended.length >= 2)
  for (const { body } of ended) {
    const { href } = body.data._links.find(({ rel }: Loose) => rel === 'result')
    t.equal((await send('GET', pathOf(href))).status, 200)
  }
})
