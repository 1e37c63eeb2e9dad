// Pages of other origins, with requests and in a real browser.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ownTokens } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import conventions, { type ConventionsOptions, serverOptions } from '@concordat/conventions'
import Fastify from 'fastify'
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
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
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
