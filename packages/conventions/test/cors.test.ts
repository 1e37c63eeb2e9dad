// Pages of other origins, with requests and in a real browser.
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { ownTokens } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import conventions, { type ConventionsOptions, serverOptions } from '@concordat/conventions'
import Fastify, { type FastifyInstance } from 'fastify'
import { chromium } from 'playwright-core'
import t, { type Test } from 'tap'

const origin = { issuer: 'https://id.example', audience: 'things' }
const kit = testKit(origin)
const Thing = { type: 'object', required: ['id'], properties: { id: { type: 'string' }, name: { type: 'string', minLength: 2 } } }
const app = 'https://app.example'
const validator = () => ({ exists: true, etag: 7 })

async function start(t: Test, cors: ConventionsOptions['cors'], others: Partial<ConventionsOptions> = {}) {
  const app = Fastify(serverOptions())
  t.teardown(() => app.close())
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: {} },
    transportSecurity: { dangerouslyAllowHttp: true },
    authentication: { issuers: [ownTokens({ ...origin, keys: kit.keys })], permissions: ['things:read', 'things:update'] },
    cors,
    ...others
  })
  await app.apiVersion(1, async (v1) => {
    v1.get('/things/:id', { config: { permissions: ['things:read'], validator }, schema: { response: { 200: Thing } } }, async () => ({
      id: '1'
    }))
    v1.patch(
      '/things/:id',
      {
        config: { permissions: ['things:update'], idempotency: 'required', validator, requireIfMatch: true },
        schema: { body: Thing, response: { 200: Thing } }
      },
      async ({ body }) => body
    )
    v1.get(
      '/limited-things',
      { config: { public: true, rateLimit: { limit: 1, windowSeconds: 3600 } }, schema: { response: { 200: Thing } } },
      async () => ({ id: '1' })
    )
  })
  return app
}

t.test('a preflight has the methods of its URL and the headers of other responses', async (t) => {
  const service = await start(t, { origin: [app], credentials: true })
  const preflight = (url: string, from = app) =>
    service.inject({
      method: 'OPTIONS',
      url,
      headers: { origin: from, 'access-control-request-method': 'PATCH', 'access-control-request-headers': 'if-match' }
    })
  const allowed = await preflight('/v1/things/1')
  t.match(
    [allowed.statusCode, allowed.headers],
    [
      204,
      {
        'access-control-allow-origin': app,
        'access-control-allow-methods': 'GET, HEAD, OPTIONS, PATCH',
        'access-control-allow-headers': 'if-match',
        'access-control-allow-credentials': 'true',
        'request-id': /./,
        'x-content-type-options': 'nosniff',
        vary: /origin/i
      }
    ]
  )
  t.notOk((await preflight('/v1/things/1', 'https://evil.example')).headers['access-control-allow-origin'])
  const unknown = await preflight('/v1/none')
  t.match(
    [unknown.statusCode, unknown.headers['access-control-allow-origin'], unknown.json()],
    [404, app, { error: { code: 'RESOURCE_NOT_FOUND' } }]
  )
  const plain = await service.inject({ method: 'OPTIONS', url: '/v1/things/1', headers: { origin: app } })
  t.match([plain.statusCode, plain.headers.allow, plain.headers['request-id']], [204, 'GET, HEAD, OPTIONS, PATCH', /./])
})

t.test('methods and further headers can be set, and without http-methods the usual methods are allowed', async (t) => {
  const headers = { origin: app, 'access-control-request-method': 'GET' }
  const own = await start(t, { origin: [app], methods: ['GET'], exposedHeaders: 'X-Own' })
  const preflight = await own.inject({ method: 'OPTIONS', url: '/v1/things/1', headers })
  t.match(preflight.headers, { 'access-control-allow-methods': 'GET', 'access-control-expose-headers': /ETag.*WWW-Authenticate, X-Own$/ })
  const without = await start(t, { origin: [app] }, { httpMethods: false })
  t.equal(
    (await without.inject({ method: 'OPTIONS', url: '/v1/x', headers })).headers['access-control-allow-methods'],
    'GET, HEAD, POST, PUT, PATCH, DELETE'
  )
})

const lines = (...parts: string[]) => `${parts.join('\r\n')}\r\n\r\n`
const host = 'Host: api.example.com'
const json = 'Content-Type: application/json'

// Errors that Node.js, the router or the first hooks raise, as bytes: the request line, and the lines that follow the one with the origin.
const early: Readonly<Record<string, readonly [status: number, line: string, ...headers: string[]]>> = {
  'a malformed path': [400, 'GET /v1/things/%E0%A4%A HTTP/1.1', host],
  'a long path parameter': [414, `GET /v1/things/${'a'.repeat(300)} HTTP/1.1`, host],
  'a long URI': [414, `GET /v1/things/1?${'a'.repeat(9000)} HTTP/1.1`, host],
  'a URI longer than all headers may be': [414, `GET /v1/things/${'a'.repeat(20_000)} HTTP/1.1`, host],
  'headers that are too large': [431, 'GET /v1/things/1 HTTP/1.1', host, `X-Large: ${'b'.repeat(20_000)}`],
  'a line that is not a header': [400, 'GET /v1/things/1 HTTP/1.1', host, 'not a header'],
  'a header with control characters': [400, 'GET /v1/things/1 HTTP/1.1', host, 'X-Bell: \u0007'],
  'a length that is not a number': [400, 'POST /v1/things HTTP/1.1', host, json, 'Content-Length: x'],
  'two lengths': [400, 'POST /v1/things HTTP/1.1', host, json, 'Content-Length: 1', 'Content-Length: 2'],
  'a length and chunks': [400, 'POST /v1/things HTTP/1.1', host, json, 'Content-Length: 1', 'Transfer-Encoding: chunked'],
  'an unknown transfer coding': [501, 'POST /v1/things HTTP/1.1', host, json, 'Transfer-Encoding: gzip, chunked'],
  'a missing host': [400, 'GET /v1/things/1 HTTP/1.1'],
  'an invalid host': [400, 'GET /v1/things/1 HTTP/1.1', 'Host: a b'],
  'two hosts': [400, 'GET /v1/things/1 HTTP/1.1', host, 'Host: b'],
  'a host that is not served': [421, 'GET /v1/things/1 HTTP/1.1', 'Host: other.example'],
  'an unknown method': [501, 'BREW /v1/things/1 HTTP/1.1', host],
  'a method without a route': [501, 'PROPFIND /v1/things/1 HTTP/1.1', host],
  'an unknown version of HTTP': [505, 'GET /v1/things/1 HTTP/3.0', host],
  'an expectation': [417, 'POST /v1/things HTTP/1.1', host, 'Expect: something', 'Content-Length: 0'],
  CONNECT: [501, 'CONNECT api.example.com:443 HTTP/1.1', host]
}

function bytesOf([, line, ...headers]: readonly [number, string, ...string[]], from: string | undefined) {
  return lines(line, ...(from === undefined ? [] : [`Origin: ${from}`]), ...headers, 'Connection: close')
}

async function respond(service: FastifyInstance, bytes: string) {
  const socket = connect((service.server.address() as AddressInfo).port, '127.0.0.1')
  socket.write(bytes)
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n')
  const [status = '', ...fields] = head.split('\r\n')
  const headers = Object.fromEntries(
    fields.map((field) => [field.split(':', 1)[0]?.toLowerCase() ?? '', field.slice(field.indexOf(':') + 2)])
  )
  return { status: Number(status.split(' ')[1]), headers, body }
}

function corsOf(headers: Readonly<Record<string, string>>) {
  return {
    ...Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('access-control-'))),
    varies: /(^|, )origin(,|$)/i.test(headers['vary'] ?? '')
  }
}

const pages: readonly (string | undefined)[] = [app, 'https://evil.example', 'null', undefined]
const policies: Readonly<Record<string, NonNullable<ConventionsOptions['cors']>>> = {
  'a list with credentials': { origin: [app, /\.partner\.example$/], credentials: true },
  'one origin': { origin: app, exposedHeaders: ['X-Own'] },
  'every origin': { origin: '*' },
  'the origin of the request': { origin: true, credentials: true },
  'no origin': { origin: false },
  'a pattern': { origin: /example$/g },
  'a function': { origin: (from, choose) => choose(null, from === app) },
  'a function that refuses': { origin: (_from, choose) => choose(null, false) }
}

for (const [name, cors] of Object.entries(policies))
  t.test(`errors before the hooks have the CORS headers of other responses: ${name}`, async (t) => {
    const service = await start(t, cors, { allowedHosts: ['api.example.com'], openapi: false, publicUrl: undefined })
    await service.listen({ host: '127.0.0.1', port: 0 })
    for (const from of pages) {
      const usual = corsOf((await respond(service, bytesOf([404, 'GET /v1/none HTTP/1.1', host], from))).headers)
      for (const [what, request] of Object.entries(early)) {
        const { status, headers, body } = await respond(service, bytesOf(request, from))
        t.match([status, JSON.parse(body).error.status], [request[0], request[0]], `${what}: status`)
        t.strictSame(corsOf(headers), usual, `${what}, from ${from}`)
        t.match(headers, { 'request-id': /./, 'x-content-type-options': 'nosniff', vary: /accept-language/ }, what)
      }
    }
  })

t.test('the origin is also found after the invalid line, in any case of letters, and only in a complete line', async (t) => {
  const service = await start(t, { origin: [app] }, { transportSecurity: { dangerouslyAllowHttp: true } })
  await service.listen({ host: '127.0.0.1', port: 0 })
  const head = `GET /v1/things/1 HTTP/1.1\r\n${host}\r\nnot a header\r\n`
  const allowed = async (bytes: string) => (await respond(service, bytes)).headers['access-control-allow-origin']
  t.equal(await allowed(`${head}ORIGIN:\t${app} \r\n\r\n`), app)
  t.equal(await allowed(`${head}Origin: ${app}`), undefined)
  t.equal(await allowed(`${head}\r\nOrigin: ${app}\r\n\r\n`), undefined)
})

t.test('a request over plain HTTP, which is refused first, can be read by a page', async (t) => {
  const service = await start(t, { origin: [app] }, { transportSecurity: {} })
  const refused = await service.inject({ url: '/v1/things/1', headers: { origin: app } })
  t.match(
    [refused.statusCode, corsOf(refused.headers as Record<string, string>)],
    [403, { 'access-control-allow-origin': app, varies: true }]
  )
})

t.test('a route without CORS stays without it', async (t) => {
  const service = await start(t, { origin: [app] }, { transportSecurity: {} })
  service.get('/private', { config: { cors: false, public: true } as object }, async () => 'x')
  const refused = await service.inject({ url: '/private', headers: { origin: app } })
  t.match([refused.statusCode, corsOf(refused.headers as Record<string, string>)], [403, { varies: false }])
})

t.test('an origin function that decides later, or fails, leaves only the headers of security on an error before the hooks', async (t) => {
  const later: readonly NonNullable<NonNullable<ConventionsOptions['cors']>['origin']>[] = [
    async () => true,
    (_from, choose) => setImmediate(choose, null, true),
    async () => {
      throw new Error('no database')
    },
    () => {
      throw new Error('broken')
    }
  ]
  for (const origin of later) {
    const service = await start(t, { origin })
    const refused = await service.inject({ url: '/v1/things/%zz', headers: { origin: app } })
    t.match([refused.statusCode, corsOf(refused.headers as Record<string, string>)], [400, { varies: true }])
    t.notOk(refused.headers['access-control-allow-origin'])
    t.match(refused.headers, { 'request-id': /./, 'x-content-type-options': 'nosniff' })
  }
})

const executablePath = process.env['TEST_CHROMIUM']
t.test(
  'a page of another origin reads an ETag, sends PATCH with If-Match and a key, and sees the errors',
  { skip: executablePath === undefined && 'set TEST_CHROMIUM to the path of chromium' },
  async (t) => {
    const site = createServer((_request, response) => response.setHeader('content-type', 'text/html').end('<title>App</title>'))
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
    t.teardown(() => site.close())
    const page = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
    const service = await start(t, { origin: [page] })
    const api = await service.listen({ host: '127.0.0.1', port: 0 })
    const browser = await chromium.launch({ executablePath: executablePath as string, args: ['--no-sandbox', '--disable-gpu'] })
    t.teardown(() => browser.close())
    const tab = await browser.newPage()
    await tab.goto(page)
    const authorization = `Bearer ${kit.token({ scope: 'things:read things:update' })}`
    const call = (path: string, init: object) =>
      tab.evaluate(
        async ([url, init]) => {
          const response = await fetch(url, init)
          const { error } = (await response.json()) as { error?: { code: string } }
          const names = ['etag', 'request-id', 'ratelimit', 'www-authenticate', 'retry-after', 'idempotency-replayed']
          return {
            status: response.status,
            code: error?.code,
            headers: Object.fromEntries(names.map((name) => [name, response.headers.get(name)]))
          }
        },
        [api + path, init] as const
      )
    const read = await call('/v1/things/1', { headers: { authorization } })
    t.match(read, { status: 200, headers: { etag: /./, 'request-id': /./, ratelimit: /./ } })
    const patch = (headers: object, body: object) =>
      call('/v1/things/1', {
        method: 'PATCH',
        headers: { 'content-type': 'application/json', authorization, ...headers },
        body: JSON.stringify(body)
      })
    const etag = String(read.headers['etag'])
    const changed = { id: '1', name: 'new' }
    t.match(await patch({ 'if-match': etag, 'idempotency-key': '"a-key-1"' }, changed), { status: 200 })
    t.match(await patch({ 'if-match': etag, 'idempotency-key': '"a-key-1"' }, changed), {
      status: 200,
      headers: { 'idempotency-replayed': 'true' }
    })
    t.match(await patch({ 'if-match': '"6"', 'idempotency-key': '"a-key-2"' }, changed), { status: 412, code: 'PRECONDITION_FAILED' })
    t.match(await patch({ 'if-match': etag, 'idempotency-key': '"a-key-3"' }, { id: '1', name: 'x' }), {
      status: 422,
      code: 'VALIDATION_FAILED'
    })
    t.match(await call('/v1/things/1', {}), { status: 401, code: 'AUTHENTICATION_REQUIRED', headers: { 'www-authenticate': 'Bearer' } })
    await call('/v1/limited-things', {})
    t.match(await call('/v1/limited-things', {}), { status: 429, code: 'RATE_LIMIT_EXCEEDED', headers: { 'retry-after': /^\d+$/ } })
  }
)
