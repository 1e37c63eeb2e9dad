// The rules of errors, checked on everything that a service refuses.
import { randomUUID } from 'node:crypto'
import { describedFetch } from '@concordat/testing'
import t from 'tap'
import { startService } from '../service.ts'
import { signIn } from './child.ts'
import { sendBytes } from './raw-http.ts'

/** The address of the service that is tested: a running one with the sample data, or one that this file starts. */
const service = process.env['TEST_SERVICE_URL'] ?? (await listeningService())
const { host } = new URL(service)
const [staff, customer] = [await signIn(service), await signIn(service, 'ada@example.com')]

// Each test knows the shape of the values that it reads.
// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any

async function listeningService() {
  const { app } = await startService(t, { publicUrl: undefined })
  return app.listen({ host: '127.0.0.1', port: 0 })
}

interface Refusal {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

async function send(method: string, path: string, headers: Record<string, string> = {}, body?: string | object): Promise<Refusal> {
  const sent = typeof body === 'object' ? JSON.stringify(body) : body
  const type = typeof body === 'object' ? { 'content-type': 'application/json' } : {}
  const init = { method, headers: { ...type, ...headers }, ...(sent !== undefined && { body: sent }) }
  const response = await describedFetch(service + path, init)
  return { method, path, status: response.status, headers: response.headers, text: await response.text() }
}

const json = { 'content-type': 'application/json', ...staff }
const document: Loose = await (await fetch(`${service}/v2/openapi`)).json()
const [product] = JSON.parse((await send('GET', '/v2/products?perPage=1')).text).data
const item = `/v2/products/${product.id}`
const newOrder = { items: [{ productId: product.id, quantity: 1 }] }

const refusals: readonly (readonly [number, string, Refusal])[] = [
  [400, 'MALFORMED_JSON', await send('POST', '/v2/products', json, '{"name":')],
  [400, 'EMPTY_BODY', await send('POST', '/v2/products', json, '')],
  [400, 'INVALID_UTF8', await sendText('POST', '/v2/products', { ...json, 'content-length': '14' }, '{"name":"\xff\xfe1"}')],
  [400, 'MALFORMED_URI', await sendText('GET', '/v2/products/%zz', staff)],
  [400, 'MALFORMED_URI', await sendText('GET', '/v2/products?name=%FF', staff)],
  [400, 'CREDENTIALS_IN_URI', await send('GET', '/v2/orders?access_token=abc', staff)],
  [400, 'IDEMPOTENCY_KEY_REQUIRED', await send('POST', '/v2/orders', staff, newOrder)],
  [401, 'AUTHENTICATION_REQUIRED', await send('GET', '/v2/orders')],
  [401, 'AUTHENTICATION_REQUIRED', await send('GET', '/v2/orders', { authorization: `Basic ${btoa('ops@example.com:x')}` })],
  [401, 'INVALID_TOKEN', await send('GET', '/v2/orders', { authorization: 'Bearer invalid' })],
  [401, 'INVALID_CREDENTIALS', await send('POST', '/v2/tokens', {}, { username: 'ada@example.com', password: 'wrong' })],
  [403, 'INSUFFICIENT_PERMISSION', await send('DELETE', item, customer)],
  [404, 'RESOURCE_NOT_FOUND', await send('GET', `/v2/products/${randomUUID()}`)],
  [404, 'RESOURCE_NOT_FOUND', await send('GET', '/v2/products/1', staff)],
  [404, 'RESOURCE_NOT_FOUND', await send('GET', '/v2/products/%00', staff)],
  [404, 'RESOURCE_NOT_FOUND', await send('PUT', '/nowhere', staff)],
  [404, 'VERSION_NOT_FOUND', await send('GET', '/v3/products')],
  [404, 'VERSION_NOT_FOUND', await send('GET', '/v1.2/products')],
  [405, 'METHOD_NOT_ALLOWED', await send('PUT', '/v2/orders', staff)],
  [406, 'NOT_ACCEPTABLE', await send('GET', '/v2/products', { accept: 'application/xml' })],
  [412, 'PRECONDITION_FAILED', await send('PATCH', item, { ...staff, 'if-match': '"none"' }, { unitsInStock: 1 })],
  [413, 'PAYLOAD_TOO_LARGE', await send('POST', '/v2/products', json, JSON.stringify({ name: 'x'.repeat(bodyLimit()) }))],
  [414, 'URI_TOO_LONG', await send('GET', `/v2/products?name=${'x'.repeat(uriLimit())}`)],
  [415, 'UNSUPPORTED_MEDIA_TYPE', await send('POST', '/v2/products', { ...staff, 'content-type': 'text/xml' }, '<name/>')],
  [415, 'UNSUPPORTED_MEDIA_TYPE', await sendText('POST', '/v2/products', { ...staff, 'content-length': '2' }, '{}')],
  [422, 'VALIDATION_FAILED', await send('POST', '/v2/products', staff, { name: '', unitPrice: 'x', secret: true })],
  [422, 'VALIDATION_FAILED', await send('PATCH', item, staff, { name: 'a\0b' })],
  [422, 'VALIDATION_FAILED', await send('PATCH', item, json, String.raw`{"name":"\ud800"}`)],
  [422, 'VALIDATION_FAILED', await send('PATCH', item, json, '{"unitsInStock":9007199254740993}')],
  [422, 'VALIDATION_FAILED', await send('PATCH', item, json, '{"unitsInStock":1e999}')],
  [422, 'VALIDATION_FAILED', await send('POST', '/v2/tokens', {}, { username: 'ada\0', password: 'wrong' })],
  [
    422,
    'VALIDATION_FAILED',
    await send(
      'POST',
      '/v2/order-batches',
      { ...staff, 'idempotency-key': randomUUID() },
      { operations: [{ id: 'a', method: 'PATCH', path: '/v2/orders/1', body: { note: '\0' } }] }
    )
  ],
  [
    422,
    'BATCH_INVALID',
    await send(
      'POST',
      '/v2/order-batches',
      { ...staff, 'idempotency-key': randomUUID() },
      { operations: [{ id: 'a', method: 'GET', path: '/v2/orders/%00' }] }
    )
  ],
  [422, 'INVALID_QUERY_PARAMETERS', await send('GET', '/v2/products?name=a%00b')],
  [422, 'INVALID_QUERY_PARAMETERS', await send('GET', `${item}?fields=%00`)],
  [422, 'INVALID_QUERY_PARAMETERS', await send('GET', '/v2/products?sort=secret&perPage=0')],
  [422, 'INVALID_QUERY_PARAMETERS', await send('GET', `${item}?fields=secret`)],
  [422, 'UNKNOWN_CATEGORY', await send('PATCH', item, staff, { categoryId: randomUUID() })],
  [428, 'PRECONDITION_REQUIRED', await send('PATCH', await anOrder(), staff, { note: 'N' })]
]

/** Sends what `fetch` would repair or refuse. */
async function sendText(method: string, path: string, headers: Record<string, string>, body = ''): Promise<Refusal> {
  const lines = Object.entries({ host, connection: 'close', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  const received = await sendBytes(service, `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
  return {
    method,
    path,
    status: received.status,
    headers: new Headers(received.headers),
    text: Buffer.from(received.body, 'latin1').toString()
  }
}

async function anOrder() {
  const [{ id }] = JSON.parse((await send('GET', '/v2/orders?perPage=1', staff)).text).data
  return `/v2/orders/${id}`
}

// The limits are published in the description.
function bodyLimit() {
  return Number(/body can have at most (\d+) bytes/.exec(document.info.description)?.[1])
}

function uriLimit() {
  return Number(/URI can have at most (\d+) characters/.exec(document.info.description)?.[1])
}

t.test('the most specific status and code are used, and never a success [X2] [X6] [N3] [U5] [U7] [V1]', async (t) => {
  for (const [status, code, refusal] of refusals)
    t.strictSame([refusal.status, JSON.parse(refusal.text).error.code], [status, code], `${refusal.method} ${refusal.path.slice(0, 60)}`)
})

t.test('every refusal has one shape, with the failed method in its link, and nothing internal [E4] [S13]', async (t) => {
  for (const [status, code, { method, text, headers }] of refusals) {
    const { error, _links, _meta, ...others } = JSON.parse(text)
    t.strictSame(others, {}, code)
    t.match(error, { status, error: /^[A-Z]/, message: /^[A-Z].*\.$/, code }, code)
    t.strictSame(
      Object.keys(error).filter((name) => !['status', 'error', 'message', 'code', 'errors'].includes(name)),
      [],
      code
    )
    t.match(_links, [{ rel: 'self', href: /^http/, method }], code)
    t.match(_meta, { version: /^v[12]$/, timestamp: /Z$/ }, code)
    t.equal(headers.get('cache-control'), 'no-store', code)
    t.notMatch(text, /node_modules|\.ts:|\.js:|at \w+ \(|SELECT|FST_|ERR_|pg_|relation "/, code)
  }
})

t.test('a refusal has the headers that explain it [H1]', async (t) => {
  for (const [status, code, { headers }] of refusals) {
    if (status === 401) t.match(headers.get('www-authenticate'), /^Bearer realm=/, code)
    if (status === 405) t.match(headers.get('allow'), /GET, HEAD/, code)
    if (status === 412) t.match(headers.get('etag'), /^"/, code)
    t.match(headers.get('request-id'), /./, code)
    t.equal(headers.get('content-language'), 'en', code)
  }
})

t.test('every code is published with its status and its remedy, and every 422 lists its errors [X3]', async (t) => {
  const responses: Loose[] = Object.values(document.components.responses)
  const published = new Map(responses.flatMap(({ content }) => Object.entries<Loose>(content['application/json'].examples ?? {})))
  for (const [status, code, { text }] of refusals) {
    // These are about requests for which there is no operation.
    if (!['VERSION_NOT_FOUND', 'METHOD_NOT_ALLOWED'].includes(code)) {
      t.equal(published.get(code)?.value.error.status, status, code)
      t.match(published.get(code)?.summary, /^[A-Z].+\.$/, code)
    }
    if (status === 422) t.match(JSON.parse(text).error.errors, [{ field: /^(?:body|query|header|path)\./, message: String }], code)
  }
})

t.test('the query, headers, path and body are validated, each wrong field is listed, and nothing is coerced [U13]', async (t) => {
  const { text } = await send('POST', '/v2/products', staff, { name: 7, categoryId: 'x', unitPrice: 3.5, unitsInStock: '1', secret: 1 })
  const fields = JSON.parse(text).error.errors.map(({ field }: Loose) => field)
  t.strictSame(fields.toSorted(), ['body.categoryId', 'body.name', 'body.secret', 'body.unitPrice', 'body.unitsInStock'])
  const html = await send('GET', '/v2/products?<script>alert(1)</script>=1', { accept: 'text/html, */*;q=0.1' })
  t.strictSame([html.status, html.headers.get('content-type')], [422, 'application/json; charset=utf-8'])
})

t.test('a customer is refused every operation whose permissions only staff have [U9]', async (t) => {
  const onlyStaff = ['products:create', 'products:update', 'products:delete', 'customers:list', 'customers:create']
  const checked = new Set<string>()
  for (const [template, operations] of Object.entries<Loose>(document.paths))
    for (const [method, operation] of Object.entries<Loose>(operations)) {
      const required: string[] = operation['x-permissions'] ?? []
      const path = template.replaceAll(/\{\w+\}/g, randomUUID())
      const headers = { 'idempotency-key': randomUUID(), 'if-match': '*' }
      const asked = async (credentials: Record<string, string>) =>
        (await send(method.toUpperCase(), path, { ...headers, ...credentials }, method === 'get' || method === 'delete' ? undefined : {}))
          .status
      if (required.length > 0) t.equal(await asked({}), 401, `${method} ${path} without credentials`)
      if (!required.some((permission) => onlyStaff.includes(permission))) continue
      for (const permission of required) checked.add(permission)
      t.equal(await asked(customer), 403, `${method} ${path} as a customer`)
    }
  t.strictSame([...checked].toSorted(), onlyStaff.toSorted())
})
