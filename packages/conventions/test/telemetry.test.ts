import { ownTokens } from '@concordat/authentication'
import conventions, { serverOptions } from '@concordat/conventions'
import Fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'

const tokens = ownTokens({
  issuer: 'https://api.example.com',
  audience: 'books',
  keys: [{ kid: '1', algorithm: 'HS256', secret: 'a-secret-for-tests-Zk3v9Qp7Lw2Xy8Rt5Bn' }]
})
const Book = { type: 'object', required: ['title'], properties: { title: { type: 'string', minLength: 1 } } } as const

interface Counted {
  readonly labels: string
  readonly value: number
}

/** Returns the lines of a metric in the text format of Prometheus. */
function lines(text: string, name: string): Counted[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .map((line) => ({ labels: line.slice(name.length, line.lastIndexOf(' ')), value: Number(line.slice(line.lastIndexOf(' '))) }))
}

async function service(options: object = {}, routes: (v1: FastifyInstance) => void = () => {}) {
  const app = Fastify({ ...serverOptions({ trustProxy: ['127.0.0.1'] }) })
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: { status: 'current' } },
    authentication: { issuers: [tokens], permissions: ['books:read', 'metrics:read'], roles: { monitor: ['metrics:read'] } },
    telemetry: { prometheus: true },
    ...options
  })
  await app.apiVersion(1, async (v1) => {
    v1.get('/books/:id', { config: { public: true }, schema: { response: { 200: Book } } }, async () => ({ title: 'Emma' }))
    routes(v1)
  })
  return app
}

const bearer = async (scope: string) => ({ authorization: `Bearer ${await tokens.sign({ sub: 'prometheus', scope })}` })
const secure = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.9', host: 'api.example.com' }

t.test('GET /metrics is for this machine and for clients with the permission metrics:read, over HTTPS', async (t) => {
  const app = await service()
  const here = await app.inject({ url: '/metrics' })
  t.match(here, {
    statusCode: 200,
    headers: { 'content-type': /^text\/plain; version=0.0.4/, 'cache-control': 'no-store', 'request-id': /./ }
  })
  t.match(here.body, /^# HELP/)
  const ask = async (headers: Readonly<Record<string, string>>) => app.inject({ url: '/metrics', headers: { ...secure, ...headers } })
  t.match((await ask({})).json(), { error: { status: 401 } })
  t.match((await ask({ authorization: 'Bearer wrong' })).json(), { error: { status: 401 } })
  t.match((await ask(await bearer('books:read'))).json(), { error: { status: 403, code: 'INSUFFICIENT_PERMISSION' } })
  t.equal((await ask(await bearer('metrics:read'))).statusCode, 200)
  t.equal((await ask(await bearer('monitor'))).statusCode, 200)
  // A token that was sent over plain HTTP is refused, whatever it permits.
  t.match((await ask({ ...(await bearer('metrics:read')), 'x-forwarded-proto': 'http' })).json(), { error: { status: 404 } })
  await app.close()
})

t.test('without telemetry, GET /metrics is not served', async (t) => {
  const app = await service({ telemetry: undefined })
  t.equal((await app.inject({ url: '/metrics', headers: secure })).statusCode, 404)
  await app.close()
})

t.test('requests are counted with their error codes, whichever plugin refused them', async (t) => {
  const app = await service({ rateLimiting: { addressLimit: { limit: 4, windowSeconds: 60 } } })
  await app.inject({ url: '/v1/books/1', headers: secure })
  await app.inject({ url: '/v1/nowhere', headers: secure })
  await app.inject({ method: 'DELETE', url: '/v1/books/1', headers: secure })
  await app.inject({ url: '/v1/books/1?title=x', headers: { ...secure, accept: 'image/png' } })
  await app.inject({ url: '/v1/books/1', headers: secure })
  const counted = lines((await app.inject({ url: '/metrics' })).body, 'http_server_request_duration_seconds_count')
  const of = (pattern: RegExp) => counted.filter(({ labels }) => pattern.test(labels)).reduce((sum, { value }) => sum + value, 0)
  t.equal(of(/http_route="\/v1\/books\/:id".*status_code="200"/), 1)
  t.equal(of(/error_type="RATE_LIMIT_EXCEEDED"/), 1)
  t.equal(of(/error_type="NOT_ACCEPTABLE"/), 1)
  t.equal(of(/error_type="METHOD_NOT_ALLOWED"/), 1)
  t.equal(of(/error_type="\w*NOT_FOUND"/), 1)
  t.notMatch(JSON.stringify(counted), /nowhere/)
  await app.close()
})

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY', 'TRACE', 'PROPFIND', 'LOCK'] as const
const hostile: readonly object[] = [
  {},
  { authorization: 'Bearer a.b.c' },
  { authorization: 'Basic eA==' },
  { authorization: 'Bearer a, Bearer b' },
  { accept: 'x/y' },
  { 'if-match': '"x"' },
  { 'if-match': 'x' },
  { 'if-none-match': '*' },
  { 'idempotency-key': '"' },
  { expect: 'x' },
  { host: 'a b' },
  { host: 'elsewhere.example' },
  { 'x-forwarded-proto': 'http' },
  { 'content-type': 'text/x' },
  { 'content-type': 'application/json' },
  { 'content-encoding': 'x' },
  { 'accept-language': 'es' }
]
const suffixes = ['', '?zz=1', '?access_token=1', `?${'a'.repeat(9000)}`, '?sort=%00', '?after=garbage']

t.test('whatever clients send, refusals make one series for each code, and the rest is one for each operation and status', async (t) => {
  const app = await service({ rateLimiting: { addressLimit: { limit: 100_000, windowSeconds: 60 } } }, (v1) => {
    v1.post(
      '/books',
      { config: { public: true, idempotency: 'off' }, schema: { body: Book, response: { 201: Book } } },
      async (_request, reply) => reply.created('/v1/books/1', { title: 'Emma' })
    )
    v1.get('/secrets', { config: { permissions: ['books:read'] }, schema: { response: { 200: Book } } }, async () => ({ title: 'Emma' }))
  })
  const paths = [
    '/v1/books/1',
    '/v1/books',
    '/v1/secrets',
    '/v1/books/%00',
    '/v2/books/1',
    '/v99/secrets',
    '/',
    '/v1',
    '/v1/openapi',
    '/%',
    '/v1/books/1/'
  ]
  const permitted = await bearer('books:read')
  let sent = 0
  for (const [place, path] of paths.entries())
    for (const method of methods)
      for (const headers of [...hostile, permitted]) {
        sent += 1
        const url = `${path}${suffixes[(sent + place) % suffixes.length]}`
        const payload = ['POST', 'PUT', 'PATCH', 'QUERY'].includes(method) ? ['{', '{"title":1}', '{"title":"Emma"}'][sent % 3] : undefined
        await app.inject({ method, url, headers: { ...secure, ...headers }, ...(payload !== undefined && { payload }) } as object)
      }
  const counted = lines((await app.inject({ url: '/metrics' })).body, 'http_server_request_duration_seconds_count')
  const refusals = counted.filter(({ labels }) => /status_code="4/.test(labels))
  t.strictSame(
    refusals.filter(({ labels }) => !/^\{http_response_status_code="4\d\d",error_type="[A-Z_]+"\}$/.test(labels)),
    []
  )
  t.ok(refusals.length >= 12 && refusals.length <= 40, `${refusals.length} series for ${sent} requests`)
  const rest = counted.filter((line) => !refusals.includes(line)).map(({ labels }) => labels)
  t.ok(rest.length > 0 && rest.length <= 40, rest.join('\n'))
  await app.close()
})
