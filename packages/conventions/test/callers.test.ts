import { memoryRevocationStore, ownTokens, revocationFeed } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import conventions, { type ConventionsOptions, serverOptions } from '@concordat/conventions'
import Fastify from 'fastify'
import t from 'tap'

const issuer = 'https://tokens.example.com'
const kit = testKit({ issuer, audience: 'books' })
const Book = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } }
const authentication = {
  issuers: [ownTokens({ issuer, audience: 'books', keys: kit.keys })],
  permissions: ['books:read', 'books:create'],
  roles: { reader: ['*:read'] }
}

const needs = ({ authentication }: Partial<ConventionsOptions>, permission: string) =>
  authentication === false ? {} : { permissions: [permission] }

async function start(options: Partial<ConventionsOptions> = {}) {
  const app = Fastify(serverOptions())
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: { status: 'current' } },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication,
    ...options
  })
  await app.apiVersion(1, async (v1) => {
    v1.get('/books/:id', { config: needs(options, 'books:read'), schema: { response: { 200: Book } } }, async () => ({ id: '7' }))
    v1.post(
      '/books',
      { config: { ...needs(options, 'books:create'), idempotency: 'off' }, schema: { response: { 201: Book } } },
      async (_request, reply) => reply.created('/books/8', { id: '8' })
    )
    v1.get('/shelves/:id', { config: { public: true }, schema: { response: { 200: Book } } }, async () => ({ id: '1' }))
  })
  return app
}

const bearer = (claims: object) => ({ authorization: `Bearer ${kit.token(claims)}` })

t.test('returns 401 without a token, in the envelope, in the language of the client, with a challenge [U1] [G1] [X1] [H1]', async (t) => {
  const app = await start()
  const response = await app.inject({ url: '/v1/books/7', headers: { 'accept-language': 'es' } })
  t.match(response.json(), {
    error: { status: 401, error: 'Unauthorized', code: 'AUTHENTICATION_REQUIRED' },
    _links: [{ rel: 'self', href: 'https://api.example.com/v1/books/7' }],
    _meta: { version: 'v1' }
  })
  t.match(response.headers, { 'www-authenticate': 'Bearer', 'content-language': 'es', 'cache-control': 'no-store' })
  t.equal((await app.inject({ url: '/v1/books/7', headers: bearer({ roles: ['reader'] }) })).statusCode, 200)
})

t.test('a role grants exactly the permissions that it lists [U9]', async (t) => {
  const app = await start()
  const response = await app.inject({ method: 'POST', url: '/v1/books', headers: bearer({ roles: ['reader'] }) })
  t.match(response.json().error, { status: 403, code: 'INSUFFICIENT_PERMISSION' })
  t.match(String(response.headers['www-authenticate']), /error="insufficient_scope"/)
})

t.test('public routes and the list of versions need no credentials', async (t) => {
  const app = await start()
  t.equal((await app.inject('/v1/shelves/1')).statusCode, 200)
  t.equal((await app.inject('/')).statusCode, 200)
  const headers = { authorization: 'Bearer x' }
  const refused = await app.inject({ url: '/v1/shelves/1', headers })
  t.match([refused.statusCode, refused.json().error.code], [401, 'INVALID_TOKEN'], 'and refuse invalid credentials in a version')
  t.equal((await app.inject({ url: '/', headers })).statusCode, 200)
})

t.test('a route that does not declare who may use it stops the boot [U10]', async (t) => {
  const app = await start()
  app.apiVersion(1, async (v1) => {
    v1.get('/drawers/:id', { schema: { response: { 200: Book } } }, async () => ({ id: '1' }))
  })
  await t.rejects(async () => app.ready(), /authentication: GET \/v1\/drawers\/:id does not declare who may use it/)
})

t.test('refuses revoked tokens while the revocation feed is up to date [U4]', async (t) => {
  const feed = revocationFeed({ store: memoryRevocationStore() })
  const app = await start({ authentication: { ...authentication, revocations: feed } })
  t.teardown(() => app.close())
  const headers = bearer({ roles: ['reader'], sid: 's1' })
  t.equal((await app.inject({ url: '/v1/books/7', headers })).statusCode, 200)
  await feed.revoke({ kind: 'session', id: 's1', until: Date.now() + 60_000 })
  t.match((await app.inject({ url: '/v1/books/7', headers })).json().error, { status: 401, code: 'TOKEN_REVOKED' })
})

t.test('counts a user as one client from every address, and does not count refused requests [X5] [H1]', async (t) => {
  const app = await start({ rateLimiting: { clientLimit: { limit: 2, windowSeconds: 60 } } })
  const call = (remoteAddress: string, claims: object) =>
    app.inject({ url: '/v1/books/7', remoteAddress, headers: bearer({ roles: ['reader'], ...claims }) })
  t.match((await call('127.0.0.1', { sub: 'ada' })).headers, { 'ratelimit-policy': '"address";q=1200;w=60, "client";q=2;w=60' })
  await call('127.0.0.2', { sub: 'ada' })
  const refused = await call('127.0.0.3', { sub: 'ada' })
  t.match(refused.json().error, { status: 429, code: 'RATE_LIMIT_EXCEEDED' })
  t.match(refused.headers, { 'retry-after': /^\d+$/ })
  t.equal((await call('127.0.0.3', { sub: 'max' })).statusCode, 200)
})

t.test('without authentication and limits, every request is accepted and not counted', async (t) => {
  const app = await start({ authentication: false, rateLimiting: false })
  const response = await app.inject('/v1/books/7')
  t.equal(response.statusCode, 200)
  t.notOk(response.headers['ratelimit'])
})

t.test('without authentication, counts requests by address', async (t) => {
  const app = await start({ authentication: false })
  t.match((await app.inject('/v1/books/7')).headers, { 'ratelimit-policy': '"address";q=1200;w=60' })
})
