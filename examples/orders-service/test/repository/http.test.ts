import t from 'tap'
import { representationChangedAt } from '../../src/versions.ts'
import { startService } from '../service.ts'
import { signIn } from './child.ts'
import { codeIn, sendBytes } from './raw-http.ts'

/** The address of the service that is tested: a running one with the sample data, or one that this file starts. */
const service = process.env['TEST_SERVICE_URL'] ?? (await listeningService())
const { host } = new URL(service)
const { authorization } = await signIn(service)

async function listeningService() {
  const { app } = await startService(t)
  return app.listen({ host: '127.0.0.1', port: 0 })
}

/** Sends a request line and headers, and returns the status code, and the error code if the response is an error. */
async function outcome(requestLine: string, ...headers: string[]) {
  const response = await sendBytes(service, `${[requestLine, ...headers, 'Connection: close'].join('\r\n')}\r\n\r\n`)
  const code = codeIn(response)
  return code === undefined ? String(response.status) : `${response.status} ${code}`
}

t.test('returns 400 for an empty or malformed Host, also when the target is a URL (RFC 9112 §3.2)', async (t) => {
  for (const value of ['', 'a b', `user@${host}`])
    for (const target of ['/v2/products', `http://${host}/v2/products`])
      t.equal(await outcome(`GET ${target} HTTP/1.1`, `Host: ${value}`), '400 INVALID_HOST', `${target} with Host: ${value}`)
  for (const authority of ['user@evil.example', 'evil.example:port', '[::1'])
    t.match(await outcome(`GET http://${authority}/v2/products HTTP/1.1`, `Host: ${host}`), /^400 /, authority)
  t.equal(await outcome('GET http://evil.example/v2/products HTTP/1.1', 'Host:'), '400 INVALID_HOST')
  t.equal(await outcome('GET /health/ready HTTP/1.1', 'Host: a b'), '400 INVALID_HOST', 'a health check too')
  t.equal(await outcome('GET /v2/products HTTP/1.0', 'Host: a b'), '400 INVALID_HOST', 'in HTTP/1.0 too')
  t.equal(await outcome('GET /v2/products HTTP/1.1'), '400 MISSING_HOST')
})

t.test('accepts every form of Host that RFC 3986 §3.2 allows, and serves in development those of this machine', async (t) => {
  for (const value of [host, 'LOCALHOST', 'localhost:', '[::1]:3000', '127.0.0.2:80', 'api.localhost']) {
    t.equal(await outcome('GET /v2/categories HTTP/1.1', `Host: ${value}`), '200', value)
  }
  for (const value of ['EXAMPLE.com', 'example.com:', '[2001:db8::1]', '1.2.3.4:80', 'a_b.c~d', 'caf%C3%A9.example', 'x:65535']) {
    t.equal(await outcome('GET /v2/categories HTTP/1.1', `Host: ${value}`), '421 MISDIRECTED_REQUEST', value)
  }
  t.equal(await outcome('GET /v2/categories HTTP/1.0'), '421 MISDIRECTED_REQUEST', 'HTTP/1.0 without Host')
})

t.test('returns 404 for a path with a trailing slash, and never the collection in place of an item', async (t) => {
  const body = {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', 'idempotency-key': 'a-key-of-this-test' },
    body: '{}'
  }
  for (const [path, init] of [
    ['/v2/customers/', {}],
    ['/v2/customers/?perPage=1', {}],
    ['/v2/categories/', {}],
    ['/v2/products/', { headers: {} }],
    ['/v2/orders/', { method: 'DELETE' }],
    ['/v2/orders//items', {}],
    ['/v1/order-exports/', body],
    ['/v1/tokens/', body],
    ['/v2/', {}],
    ['/health/ready/', {}]
  ] as const) {
    const response = await fetch(service + path, { headers: { authorization }, ...init })
    t.equal(response.status, 404, path)
    t.equal(((await response.json()) as { error: { code: string } }).error.code, 'RESOURCE_NOT_FOUND', path)
  }
})

const status = (accept: string, path = '/reference') => outcome(`GET ${path} HTTP/1.1`, `Host: ${host}`, `Accept: ${accept}`)

t.test('the reference page is refused when HTML is not acceptable [N2]', async (t) => {
  for (const accept of ['*/*', 'text/html', 'text/*', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'])
    t.equal(await status(accept), '200', accept)
  for (const accept of ['application/json', 'image/png', 'text/html;q=0, */*']) t.equal(await status(accept), '406 NOT_ACCEPTABLE', accept)
  t.equal(await status('*/*', '/reference/start.js'), '200')
  t.equal(await status('text/html', '/reference/start.js'), '406 NOT_ACCEPTABLE')
})

t.test('every 401 has a challenge (RFC 9110 §11.6.1) [X1]', async (t) => {
  for (const headers of [{}, { authorization: 'Bearer x' }, { authorization: 'Basic eDp5' }] as Record<string, string>[]) {
    const response = await fetch(`${service}/v2/orders`, { headers })
    t.match([response.status, response.headers.get('www-authenticate')], [401, /^Bearer /])
  }
})

const statusWith = async (path: string, token: string | undefined, body?: object) => {
  const headers = { ...(token !== undefined && { authorization: token }), ...(body && { 'content-type': 'application/json' }) }
  return (await fetch(service + path, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) })).status
}

t.test(
  'a public route of a version refuses an invalid token; the routes for tokens and routes outside the versions ignore it',
  async (t) => {
    const credentials = { username: 'ada@example.com', password: 'correct horse battery staple' }
    for (const version of ['v1', 'v2']) {
      for (const path of ['products', 'categories']) {
        t.equal(await statusWith(`/${version}/${path}`, undefined), 200)
        t.equal(await statusWith(`/${version}/${path}`, authorization), 200)
        for (const token of ['Bearer x', 'Basic eDp5', `${authorization}x`])
          t.equal(await statusWith(`/${version}/${path}`, token), 401, token)
      }
      t.equal(await statusWith(`/${version}/tokens`, 'Bearer x', credentials), 200)
      t.equal(await statusWith(`/${version}/token-revocations`, 'Bearer x', { token: 'unknown' }), 201)
    }
    for (const path of ['/', '/health/ready', '/v2/openapi', '/reference']) t.equal(await statusWith(path, 'Bearer x'), 200, path)
  }
)

const secondOf = (time: string) => Math.floor(Date.parse(time) / 1000) * 1000

t.test('a product has Last-Modified, and is 304 for If-Modified-Since unless If-None-Match says otherwise [C4]', async (t) => {
  const page = (await (await fetch(`${service}/v2/products?perPage=1`)).json()) as { data: { id: string; updatedAt: string }[] }
  const [{ id, updatedAt } = { id: '', updatedAt: '' }] = page.data
  const first = await fetch(`${service}/v2/products/${id}`)
  const date = first.headers.get('last-modified') as string
  // The second after the change, or the release if that is later.
  t.equal(date, new Date(Math.max(secondOf(updatedAt) + 1000, Date.parse(representationChangedAt))).toUTCString())
  const [ownSecond, nextSecond] = [secondOf(updatedAt), secondOf(updatedAt) + 1000].map((time) => new Date(time).toUTCString())
  const earlier = new Date(Date.parse(date) - 1000).toUTCString()
  for (const [headers, status] of [
    [{ 'if-modified-since': date }, 304],
    [{ 'if-modified-since': earlier }, 200],
    [{ 'if-modified-since': date, 'if-none-match': '"none"' }, 200],
    [{ 'if-unmodified-since': ownSecond }, 412]
  ] as [Record<string, string>, number][])
    t.equal((await fetch(`${service}/v2/products/${id}`, { headers })).status, status, JSON.stringify(headers))
  const change = { method: 'PATCH', body: '{}', headers: { authorization, 'content-type': 'application/json' } }
  for (const [since, status] of [
    [ownSecond, 412],
    [nextSecond, 200]
  ]) {
    const headers = { ...change.headers, 'if-unmodified-since': String(since) }
    t.equal((await fetch(`${service}/v2/products/${id}`, { ...change, headers })).status, status, `PATCH if unmodified since ${since}`)
  }
})

t.test('HEAD has the headers of GET: with compression, preconditions, ranges and errors (RFC 9110 §9.3.2) [M7]', async (t) => {
  const paths = [
    '/',
    '/v2',
    '/v2/openapi',
    '/v2/categories',
    '/v2/products',
    '/v2/products?perPage=1',
    '/v2/products?perPage=100&fields=name',
    '/v2/products?perPage=0',
    '/v2/customers',
    '/v2/orders',
    '/v1/orders?perPage=50',
    '/v2/webhook-subscriptions',
    '/v2/nowhere',
    '/v9/products',
    '/health/ready',
    '/reference'
  ]
  const { data } = (await (await fetch(`${service}/v2/products?perPage=1`)).json()) as { data: { id: string }[] }
  paths.push(`/v2/products/${data[0]?.id}`, `/v2/products/${data[0]?.id}/images`)
  for (const path of paths)
    for (const coding of ['identity', 'gzip']) {
      const name = `${path} with Accept-Encoding: ${coding}`
      const first = await compare(name, path, { authorization, 'accept-encoding': coding })
      for (const conditions of [{ 'if-none-match': first.get('etag') ?? '"none"' }, { 'if-match': '"none"' }, { range: 'bytes=0-9' }])
        await compare(`${name} and ${JSON.stringify(conditions)}`, path, { authorization, 'accept-encoding': coding, ...conditions })
    }
  for (const headers of [{ accept: 'text/html' }, { authorization: 'Bearer invalid' }, {}] as Record<string, string>[])
    await compare(`/v2/orders with ${JSON.stringify(headers)}`, '/v2/orders', { 'accept-encoding': 'br', ...headers })

  async function compare(name: string, path: string, headers: Record<string, string>) {
    const [get, head] = await Promise.all(['GET', 'HEAD'].map((method) => received(method, path, headers)))
    t.strictSame(head, get, name)
    return new Map(get as [string, string][])
  }
})

/** Returns what a response has in common with others to the same request: status code and headers, without its id, its time and its quota. */
async function received(method: string, path: string, headers: Record<string, string>) {
  const lines = Object.entries({ host, connection: 'close', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  const response = await sendBytes(service, `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
  const {
    date: _date,
    'request-id': _id,
    ratelimit: _quota,
    'content-length': length,
    'transfer-encoding': chunked,
    ...others
  } = response.headers
  // The compressed size of two times differs by some bytes.
  const isExact = others['content-encoding'] === undefined
  return [
    ['status', String(response.status)],
    [
      'length',
      length === undefined || (method === 'GET' && chunked !== undefined) ? undefined : isExact ? length : Math.round(Number(length) / 1000)
    ],
    ...Object.entries(others).toSorted(([a], [b]) => (a < b ? -1 : 1))
  ]
}
