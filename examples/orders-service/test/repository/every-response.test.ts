// The rules that hold for every response, checked on what a service returns to each operation of its descriptions.
import { randomUUID } from 'node:crypto'
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

interface Exchange {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body, if it is JSON. */
  readonly body: Loose
}

async function listeningService() {
  const { app } = await startService(t, { publicUrl: undefined, rateLimit: 'on' })
  return app.listen({ host: '127.0.0.1', port: 0 })
}

const exchanges: Exchange[] = []

/** Sends a request as staff, and remembers the response. It rejects when the response has anything that its description does not have. */
async function send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Exchange> {
  const response = await describedFetch(service + path, {
    method,
    headers: { authorization, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) })
  })
  const text = await response.text()
  const isJson = text !== '' && /[/+]json/.test(response.headers.get('content-type') ?? '')
  const exchange = { method, path, status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined }
  exchanges.push(exchange)
  return exchange
}

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
  const { paths } = (await send('GET', `/${version}/openapi`)).body
  for (const template of Object.keys(paths)) if (paths[template].get !== undefined) await readAt(template)
  for (const path of ['/', `/${version}`, '/health/live', '/health/ready']) await send('GET', path)
}

/** Reads a path, with the identifier of the first item of the list in place of each parameter. Files of exports are read by their links. */
async function readAt(template: string) {
  let path = ''
  for (const segment of template.split('/').slice(1)) {
    if (!segment.startsWith('{')) {
      path += `/${segment}`
      continue
    }
    const { body } = await send('GET', `${path}?perPage=1`)
    const [first] = body?.data ?? []
    if (first === undefined) return
    path += `/${first.id ?? first.jobId}`
  }
  if (!path.endsWith('/files')) await send('GET', path)
}

function pathOf(href: string) {
  const { pathname, search } = new URL(href)
  return pathname + search
}

await explore('v1')
await explore('v2')
const resources = exchanges.filter(({ body, path }) => body !== undefined && !path.endsWith('/openapi'))
const versioned = exchanges.filter(({ path }) => /^\/v[12](\/(?!openapi)|$)/.test(path))
const successes = versioned.filter(({ status, body }) => status < 300 && body !== undefined)
const nameOf = ({ method, path, status }: Exchange) => `${method} ${path} ${status}`

/** Returns every value in a body with its name and its path. */
function valuesIn(value: Loose, path = ''): { readonly path: string; readonly value: Loose }[] {
  const inner = typeof value === 'object' && value !== null ? Object.entries(value) : []
  return [{ path, value }, ...inner.flatMap(([name, one]) => valuesIn(one, `${path}/${name}`))]
}

t.test('enough kinds of operations were sent', async (t) => {
  t.ok(exchanges.length > 90, `${exchanges.length} responses`)
  t.strictSame([...new Set(exchanges.map(({ method }) => method))].toSorted(), ['DELETE', 'GET', 'PATCH', 'POST', 'PUT'])
})

t.test('every success is in the envelope, with the version that responded [S5] [S9] [E1] [M1] [V8]', async (t) => {
  for (const exchange of successes) {
    const { path, body } = exchange
    t.strictSame(Object.keys(body), ['data', '_links', '_meta'], nameOf(exchange))
    t.type(body.data, 'object', nameOf(exchange))
    t.match(body._meta, { version: path.slice(1, 3), timestamp: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/ }, nameOf(exchange))
  }
})

t.test('every body has links of one form, and one to itself [S5] [K1] [K2] [K3] [K5]', async (t) => {
  const malformed: string[] = []
  for (const exchange of resources) {
    const { method, path, body } = exchange
    const [self] = body._links
    t.equal(self.rel, 'self', nameOf(exchange))
    const location = exchange.headers.get('location')
    const targets = [`${method} ${path}`, ...(location === null ? [] : [`GET ${pathOf(location)}`])]
    t.ok(targets.includes(`${self.method} ${pathOf(self.href)}`), nameOf(exchange))
    for (const { path: place, value } of valuesIn(body))
      if (place.endsWith('/_links'))
        for (const link of value) {
          const { rel, href, method: use, ...others } = link
          const isWhole = /^[a-z][a-z-]*$/.test(rel) && /^https?:\/\/[^/]+\//.test(href) && /^[A-Z]+$/.test(use)
          if (!isWhole || Object.keys(others).length > 0) malformed.push(`${nameOf(exchange)} ${place}`)
        }
  }
  t.strictSame(malformed, [])
})

// https://www.iana.org/assignments/link-relations: those that an API of resources uses.
const registered =
  `alternate collection describedby edit first help item last latest-version next predecessor-version prev related search self
  service-desc service-doc service-meta status successor-version up version-history`.split(/\s+/)
// The shop's own: its resources, and actions on them.
const ownRelations = `attempts cancel category customer deliveries images items ping product recover redeliver result rotate-secret`.split(
  ' '
)

t.test('a link has a registered relation, unless it names a resource or an action of the shop [K4]', async (t) => {
  const relations = new Set(
    resources.flatMap(({ body }) =>
      valuesIn(body).flatMap(({ path, value }) => (path.endsWith('_links') ? value.map(({ rel }: Loose) => rel) : []))
    )
  )
  const own = [...relations].filter((relation) => !registered.includes(relation))
  t.strictSame(
    own.filter((relation) => !ownRelations.includes(relation)),
    []
  )
  t.ok(relations.size - own.length >= 8, [...relations].join(' '))
})

t.test('every time is ISO 8601 in UTC, an absent value has no member, and an empty list is [] [F2] [F3] [F5]', async (t) => {
  const values = successes.flatMap((exchange) =>
    valuesIn(exchange.body).map(({ path, value }) => ({ place: `${nameOf(exchange)} ${path}`, value }))
  )
  t.strictSame(
    values.filter(({ value }) => value === null),
    []
  )
  const times = values.filter(({ place }) => /(?:At|timestamp)$/.test(place))
  t.ok(times.length > 100)
  t.strictSame(
    times.filter(({ value }) => !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value)),
    []
  )
  t.strictSame((await send('GET', '/v2/products?name=nothing-has-this-name')).body.data, [])
})

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

t.test('every response has a Request-Id of its own, a repeated one too [H2]', async (t) => {
  const ids = exchanges.map(({ headers }) => headers.get('request-id'))
  t.notOk(ids.includes(null))
  t.equal(new Set(ids).size, ids.length)
  t.ok(exchanges.some(({ headers }) => headers.get('idempotency-replayed') === 'true'))
})

const directives = ['public', 'private', 'no-cache', 'no-store', 'max-age', 's-maxage', 'must-revalidate']

t.test('every response says how it may be cached, and only responses to reads may be [S8] [C2] [C5]', async (t) => {
  for (const exchange of versioned) {
    const { method, status, headers } = exchange
    const policy = (headers.get('cache-control') ?? '').split(/ *, */)
    const names = policy.map((one) => one.replace(/=\d+$/, ''))
    if (status !== 204) t.notSame(policy, [''], nameOf(exchange))
    t.strictSame(
      names.filter((name) => name !== '' && !directives.includes(name)),
      [],
      nameOf(exchange)
    )
    if (method !== 'GET' && status !== 204) t.strictSame(policy, ['no-store'], nameOf(exchange))
    if (method === 'GET' && status === 200 && !names.includes('no-store')) t.ok(headers.has('etag'), nameOf(exchange))
  }
  t.ok(versioned.some(({ status }) => status === 304))
})

t.test('every status code is one of those that the interface defines, and every creation has its address [X4]', async (t) => {
  for (const exchange of versioned) {
    const { method, path, status, headers, text } = exchange
    // The staff, who send the requests, do not manage the subscriptions of others.
    const isManaged = path.includes('/managed-')
    t.ok(isManaged ? status === 403 : [200, 201, 202, 204, 304, 404].includes(status), nameOf(exchange))
    if (status === 201 || status === 202) t.match(headers.get('location'), /^http/, nameOf(exchange))
    if (status === 204 || status === 304) t.equal(text, '', nameOf(exchange))
    if (status === 201 || status === 202) t.equal(method, 'POST')
  }
  for (const status of [200, 201, 202, 204, 304])
    t.ok(
      versioned.some((one) => one.status === status),
      `a ${status}`
    )
})

t.test('no browser can run, frame or guess the type of a response [U11] [U13]', async (t) => {
  for (const exchange of exchanges) {
    const { headers } = exchange
    t.equal(headers.get('x-content-type-options'), 'nosniff', nameOf(exchange))
    t.match(headers.get('content-security-policy'), /default-src 'none'.*frame-ancestors 'none'/, nameOf(exchange))
    t.equal(headers.get('x-frame-options'), 'DENY', nameOf(exchange))
    t.notMatch(headers.get('content-type') ?? '', /html/, nameOf(exchange))
  }
})

async function statusOfList(headers: Record<string, string>) {
  const response = await fetch(`${service}/v2/orders`, { headers })
  await response.arrayBuffer()
  return response.status
}

t.test('each request is judged by its own credentials: no session begins [S2]', async (t) => {
  t.strictSame(exchanges.filter(({ headers }) => headers.has('set-cookie')).map(nameOf), [])
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

t.test('OPTIONS lists the methods of each operation, and HEAD [M8]', async (t) => {
  const { paths } = (await send('GET', '/v2/openapi')).body
  for (const template of Object.keys(paths)) {
    const path = template.replaceAll(/\{\w+\}/g, randomUUID())
    const { status, headers } = await fetch(service + path, { method: 'OPTIONS' })
    const methods = Object.keys(paths[template]).map((method) => method.toUpperCase())
    const expected = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].toSorted()
    t.strictSame([status, (headers.get('allow') ?? '').split(', ').toSorted()], [204, expected], template)
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
  for (const list of ['categories', 'products', 'customers', 'orders', 'order-exports', 'webhook-subscriptions'])
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
