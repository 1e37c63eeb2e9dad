import { randomUUID } from 'node:crypto'
import t from 'tap'
import { password, startService } from './service.ts'

/** The address of the service that is tested: a running one with the sample data, or one that this file starts. */
const service = process.env['TEST_SERVICE_URL'] ?? (await listeningService())

async function listeningService() {
  const { app } = await startService(t)
  return app.listen({ host: '127.0.0.1', port: 0 })
}

async function request(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
  const isJson = body !== undefined && !Buffer.isBuffer(body)
  const response = await fetch(service + path, {
    method,
    headers: { ...(isJson && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: isJson ? JSON.stringify(body) : new Uint8Array(body) })
  })
  const text = await response.text()
  const data = text === '' ? undefined : JSON.parse(text).data
  return { status: response.status, tag: response.headers.get('etag') ?? '', data, headers: response.headers }
}

const { data: tokens } = await request('POST', '/v1/tokens', { username: 'ops@example.com', password })
const authorization = `Bearer ${tokens.accessToken}`
/** Sends a request as staff. */
const send = (method: string, path: string, body?: object, headers = {}) => request(method, path, body, { authorization, ...headers })

const { data: categories } = await send('GET', '/v1/categories')
const product = (name: string) => ({ name, categoryId: categories[0].id, unitPrice: '5.00', currency: 'EUR', unitsInStock: 9 })
const whole = (name: string) => ({ ...product(name), description: '', discontinued: false })
const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==', 'base64')

t.test('a tag never comes back: not after DELETE and another PUT of the same id, with other or the same content [C1] [O1]', async (t) => {
  const path = `/v1/products/${randomUUID()}`
  t.equal((await send('PUT', path, whole('Old tea'))).status, 201)
  const { tag: old } = await send('GET', path)
  t.equal((await send('GET', path, undefined, { 'if-none-match': old })).status, 304)
  for (const name of ['New tea', 'Old tea']) {
    t.equal((await send('DELETE', path)).status, 204)
    t.equal((await send('PUT', path, whole(name))).status, 201)
    t.equal((await send('GET', path, undefined, { 'if-none-match': old })).status, 200)
    t.equal((await send('PATCH', path, { name: 'Lost' }, { 'if-match': old })).status, 412)
    t.match(await send('GET', path), { data: { name } })
  }
  t.equal((await send('DELETE', path, undefined, { 'if-match': old })).status, 412)
  t.equal((await send('DELETE', path)).status, 204)
})

t.test('what sends an ETag accepts it in If-Match, and refuses the tag of an earlier state [O1]', async (t) => {
  const { data: created } = await send('POST', '/v1/products', product('Tea'))
  const customer = { companyName: 'Tea House', contactName: 'Ada', email: `${randomUUID()}@example.com`, country: 'Spain' }
  const { data: buyer } = await send('POST', '/v1/customers', customer)
  const items = [{ productId: created.id, quantity: 1 }]
  const { data: order } = await send('POST', '/v1/orders', { customerId: buyer.id, items }, { 'idempotency-key': randomUUID() })
  const { data: line } = await send('POST', `/v1/orders/${order.id}/items`, { productId: created.id, quantity: 1 })
  const { data: image } = await send('POST', `/v1/products/${created.id}/images`, png, { 'content-type': 'image/png' })

  const changes: Readonly<Record<string, object>> = {
    [`/v1/products/${created.id}`]: { unitPrice: '6.00' },
    [`/v2/products/${created.id}`]: { unitPrice: '7.00' },
    [`/v1/customers/${buyer.id}`]: { contactName: 'Bob' },
    [`/v1/orders/${order.id}`]: { note: 'late' },
    [`/v1/orders/${order.id}/items/${line.id}`]: { quantity: 2 }
  }
  for (const [path, change] of Object.entries(changes)) {
    const { tag } = await send('GET', path)
    t.match(tag, /^"[^~"]+~[\w-]{11}"$/, path)
    const changed = await send('PATCH', path, change, { 'if-match': tag })
    t.equal(changed.status, 200, path)
    t.equal((await send('GET', path, undefined, { 'if-none-match': changed.tag })).status, 304, `the tag of the change of ${path}`)
    t.equal((await send('PATCH', path, change, { 'if-match': tag })).status, 412, `the earlier tag of ${path}`)
  }
  for (const path of [`/v1/orders/${order.id}/items/${line.id}`, `/v1/products/${created.id}/images/${image.id}`]) {
    const { tag } = await send('GET', path)
    t.equal((await send('DELETE', path, undefined, { 'if-match': '"other"' })).status, 412, path)
    t.equal((await send('DELETE', path, undefined, { 'if-match': tag })).status, 204, path)
  }
})

t.test('the tag of another version or content coding is accepted in If-Match, and never gives 304 there [C1] [O1]', async (t) => {
  const { data: created } = await send('POST', '/v1/products', product('Tea'))
  const [one, two] = [`/v1/products/${created.id}`, `/v2/products/${created.id}`]
  const { tag } = await send('GET', one)
  t.equal((await send('GET', two, undefined, { 'if-none-match': tag })).status, 200)
  const changed = await send('PATCH', two, { unitPrice: '8.00' }, { 'if-match': tag })
  t.equal(changed.status, 200)
  t.equal((await send('PATCH', one, { unitPrice: '9.00' }, { 'if-match': changed.tag.replace(/"$/, '--gzip"') })).status, 200)
})

t.test('an export in progress must not be stored, and has no tag [C1]', async (t) => {
  const { headers } = await send('POST', '/v1/order-exports', {})
  const status = await send('GET', new URL(headers.get('location') ?? '').pathname)
  t.match([status.headers.get('cache-control'), status.tag], ['no-store', ''])
})

t.test('a creation that is repeated with its key happens once [S7] [I1]', async (t) => {
  const { data: created } = await send('POST', '/v1/products', product('Tea'))
  const { data: buyers } = await send('GET', '/v1/customers?perPage=1')
  const items = [{ productId: created.id, quantity: 1 }]
  const { data: order } = await send('POST', '/v1/orders', { customerId: buyers[0].id, items }, { 'idempotency-key': randomUUID() })
  const customer = { companyName: 'Tea House', contactName: 'Ada', email: `${randomUUID()}@example.com`, country: 'Spain' }
  for (const [path, body, headers] of [
    ['/v1/products', product('Tea'), {}],
    ['/v1/customers', customer, {}],
    [`/v1/orders/${order.id}/items`, { productId: created.id, quantity: 2 }, {}],
    [`/v1/products/${created.id}/images`, png, { 'content-type': 'image/png' }],
    ['/v1/order-exports', {}, {}]
  ] as const) {
    const keyed = { ...headers, 'idempotency-key': randomUUID() }
    const [first, second] = [await send('POST', path, body, keyed), await send('POST', path, body, keyed)]
    t.match([first.status < 300, second.headers.get('idempotency-replayed')], [true, 'true'], path)
    t.strictSame([second.status, second.data], [first.status, first.data], path)
  }
  const lines = (await send('GET', `/v1/orders/${order.id}/items`)).data
  t.strictSame(lines.map(({ quantity }: { quantity: number }) => quantity).toSorted(), [1, 2])
})
