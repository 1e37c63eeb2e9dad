import { hash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { mock } from 'node:test'
import {
  type AuthenticationOptions,
  createApiKey,
  grantsIn,
  introspection,
  memoryApiKeyStore,
  memoryRevocationStore,
  revocationFeed
} from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import type { FastifyServerOptions } from 'fastify'
import t from 'tap'
import { clock, IdentityProvider, seconds, type Tap } from './identity-provider.ts'
import { ownIssuer, service } from './service.ts'

type IntrospectionOptions = Parameters<typeof introspection>[0]

const issuer = 'https://id.example.com'
const token = 'ory_at_Kc2Vq-8sJ1m0.Zr4~T+b/Q=='
// Characters that HTTP Basic would confuse without the encoding of RFC 6749 §2.3.1.
const [clientId, clientSecret] = ['orders: api', 'CANARY-s%cret+ü:&=']

const formDecoded = (text: string) => new URLSearchParams(`x=${text}`).get('x')

interface Query {
  readonly form: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, unknown>>
  readonly method: string | undefined
}

interface SetUp {
  readonly options?: Partial<IntrospectionOptions>
  readonly plugin?: Partial<AuthenticationOptions>
  readonly fastify?: FastifyServerOptions
}

/** Creates an authorization server with active tokens, and a service that sends tokens to its introspection endpoint. */
async function introspected(t: Tap, { options = {}, plugin = {}, fastify = {} }: SetUp = {}) {
  const provider = await new IdentityProvider().listen(t)
  const queries: Query[] = []
  const active = new Map<string, object>()
  provider.routes.set('/oauth2/introspect', async (request, response) => {
    const form = Object.fromEntries(new URLSearchParams(Buffer.concat(await request.toArray()).toString()))
    queries.push({ form, headers: request.headers, method: request.method })
    response.end(JSON.stringify(active.get(form['token'] ?? '') ?? { active: false }))
  })
  const endpoint = { issuer, audience: 'orders', url: `${provider.origin}/oauth2/introspect`, clientId, clientSecret }
  const { app } = await service({ issuers: [introspection({ ...endpoint, ...options })], ...plugin }, { fastify })
  const send = async (text = token) => {
    const response = await app.inject({ url: '/orders', headers: { authorization: `Bearer ${text}` } })
    return { status: response.statusCode, code: response.json().code as string, principal: response.json(), headers: response.headers }
  }
  return { provider, queries, active, app, send, endpoint }
}

// The members of RFC 7662 §2.2, as Keycloak and Ory Hydra return them.
const claims = () => ({
  active: true,
  iss: issuer,
  aud: ['orders', 'billing'],
  sub: 'ada',
  client_id: 'shop-web',
  username: 'ada@example.com',
  scope: 'openid orders:read',
  token_type: 'Bearer',
  token_use: 'access_token',
  iat: seconds() - 10,
  nbf: seconds() - 10,
  exp: seconds() + 7200
})

t.test('authenticates an opaque token by introspection, with the same principal as for a JWT', async (t) => {
  const { active, queries, send } = await introspected(t)
  active.set(token, claims())
  const { principal } = await send()
  t.match(principal, { kind: 'user', issuer, client: 'shop-web', subject: 'ada', roles: [] })
  t.strictSame(principal.permissions, ['orders:read'])
  const { active: _active, token_type: _type, ...expected } = claims()
  t.strictSame(Object.keys(principal.claims).toSorted(), Object.keys(expected).toSorted())

  const [{ form, headers, method } = {} as Query] = queries
  t.strictSame([method, form], ['POST', { token, token_type_hint: 'access_token' }])
  t.match(headers, { 'content-type': /^application\/x-www-form-urlencoded/, accept: 'application/json' })
  const [id = '', secret = ''] = Buffer.from(String(headers['authorization']).slice('Basic '.length), 'base64').toString().split(':')
  t.strictSame([formDecoded(id), formDecoded(secret)], [clientId, clientSecret])
})

// Memory holds the digests of opaque tokens and of API keys, so a leak of memory or of a store must give no credential.
t.test('the digest of a token or of an API key that was accepted is not a credential', async (t) => {
  const { key, record } = createApiKey({ client: 'importer', permissions: ['orders:read'] })
  const store = memoryApiKeyStore([record])
  const { active, app } = await introspected(t, { plugin: { apiKeys: { store, header: 'x-api-key', permissions: ['orders:read'] } } })
  active.set(token, claims())
  const status = async (headers: Record<string, string>) => (await app.inject({ url: '/orders', headers })).statusCode
  for (const _ of ['verified', 'cached'])
    t.strictSame([await status({ authorization: `Bearer ${token}` }), await status({ 'x-api-key': key })], [200, 200])
  for (const text of [token, key])
    for (const encoding of ['hex', 'base64', 'base64url'] as const) {
      const digest = hash('sha256', text, 'buffer').toString(encoding)
      t.equal(await status({ authorization: `Bearer ${digest}` }), 401, `${encoding} as a token`)
      t.equal(await status({ 'x-api-key': digest }), 401, `${encoding} as an API key`)
    }
})

t.test('maps roles and clients of introspected tokens like those of a JWT', async (t) => {
  const { active, send } = await introspected(t, {
    options: { grantsOf: grantsIn(['realm_access', 'roles']), isClient: ({ username }) => username === 'service-account-importer' },
    plugin: { roles: { seller: ['orders:*'] } }
  })
  active.set(token, { ...claims(), realm_access: { roles: ['seller'] }, username: 'service-account-importer' })
  const { kind, client, subject, roles } = (await send()).principal
  t.strictSame([kind, client, subject, roles], ['client', 'shop-web', undefined, ['seller']])
})

t.test('accepts scope as a list, one role as a string and times with a fraction in a response', async (t) => {
  const { active, send } = await introspected(t, { plugin: { roles: { seller: ['orders:create'] } } })
  const changed = { scope: ['openid', 'orders:read'], roles: 'seller', iat: seconds() - 10.5, nbf: seconds() - 10.5, exp: seconds() + 60.5 }
  active.set(token, { ...claims(), ...changed })
  const { permissions, roles, claims: shown } = (await send()).principal
  t.strictSame([permissions, roles], [['orders:create', 'orders:read'], ['seller']])
  t.match(shown, { scope: 'openid orders:read', roles: ['seller'], exp: changed.exp })
})

t.test('accepts a response with only the client and its scope', async (t) => {
  const { active, send } = await introspected(t, { options: { cacheSeconds: 0 } })
  active.set(token, { active: true, client_id: 'importer', scope: 'orders:read' })
  const { kind, issuer: iss, client, subject } = (await send()).principal
  t.strictSame([kind, iss, client, subject], ['client', issuer, 'importer', undefined])
})

t.test('rejects tokens that are not active access tokens for this service', async (t) => {
  const { active, send, queries } = await introspected(t)
  t.strictSame([(await send()).status, (await send()).code], [401, 'INVALID_TOKEN'], 'unknown')
  t.equal(queries.length, 2, 'a rejection is not cached')
  for (const change of [
    { active: false },
    { iss: 'https://other.example.com' },
    { aud: 'billing' },
    { aud: [] },
    { aud: null },
    { sub: '' },
    { sub: undefined, client_id: undefined },
    { exp: '2026' },
    { nbf: seconds() + 600 },
    { iat: seconds() + 600, exp: seconds() + 900 },
    { scope: ['orders:read', 1] },
    { roles: { seller: true } },
    { typ: 'Refresh' },
    { typ: 'ID' },
    { token_use: 'refresh_token' },
    { token_type: 'DPoP' },
    { token_type: { toString: 1 } },
    { nonce: 'n' }
  ]) {
    active.set(token, { ...claims(), ...change })
    const { status, code, headers } = await send()
    t.strictSame([status, code], [401, 'INVALID_TOKEN'], JSON.stringify(change))
    t.equal(headers['www-authenticate'], 'Bearer realm="api", error="invalid_token"')
  }
  active.set(token, { ...claims(), iat: seconds() - 600, nbf: undefined, exp: seconds() - 300 })
  t.equal((await send()).code, 'TOKEN_EXPIRED')
  active.set(token, claims())
  t.equal((await send()).status, 200)
})

t.test('caches an active token for 10 seconds, but not beyond its expiry', async (t) => {
  const advance = clock(t)
  const { active, queries, send } = await introspected(t)
  active.set(token, claims())
  for (let time = 0; time < 3; time += 1) t.equal((await send()).status, 200)
  t.equal(queries.length, 1)
  active.delete(token)
  advance(9999)
  t.equal((await send()).status, 200)
  advance(1)
  t.equal((await send()).status, 401, 'revoked by its issuer')

  active.set('short', { ...claims(), exp: seconds() + 3 })
  t.equal((await send('short')).status, 200)
  advance(3000)
  active.delete('short')
  t.equal((await send('short')).status, 401)

  const { exp: _exp, ...endless } = claims()
  active.set('endless', endless)
  for (let time = 0; time < 3; time += 1) {
    t.equal((await send('endless')).status, 200)
    advance(10_000)
  }
  t.equal(queries.filter(({ form }) => form['token'] === 'endless').length, 3)
})

t.test('caches for cacheSeconds of the issuer', async (t) => {
  const advance = clock(t)
  for (const [cacheSeconds, calls] of [
    [0, 3],
    [30, 2],
    [60, 1]
  ] as const) {
    const { active, queries, send } = await introspected(t, { options: { cacheSeconds } })
    active.set(token, claims())
    await send()
    await send()
    advance(30_000)
    t.equal((await send()).status, 200)
    t.equal(queries.length, calls, `${cacheSeconds}`)
  }
})

t.test('sends one introspection request for concurrent requests with the same token', async (t) => {
  const { active, queries, send } = await introspected(t)
  active.set(token, claims())
  const statuses = async (text: string) =>
    new Set((await Promise.all(Array.from({ length: 20 }, () => send(text)))).map(({ status }) => status))
  t.strictSame(await statuses(token), new Set([200]))
  t.strictSame(await statuses('unknown'), new Set([401]))
  t.strictSame(
    queries.map(({ form }) => form['token']),
    [token, 'unknown']
  )
})

t.test('returns 503 with Retry-After while the introspection endpoint fails, and recovers', async (t) => {
  const { active, provider, send } = await introspected(t)
  active.set(token, claims())
  provider.serve('/elsewhere', claims())
  const working = provider.routes.get('/oauth2/introspect') as never
  for (const [name, fail] of [
    ['status code 500', (response) => response.writeHead(500).end('{"active":true}')],
    ['wrong client secret', (response) => response.writeHead(401).end('{"error":"invalid_client"}')],
    ['too many requests', (response) => response.writeHead(429).end()],
    ['a redirect', (response) => response.writeHead(307, { location: '/elsewhere' }).end()],
    ['HTML', (response) => response.end('<html>')],
    ['nothing', (response) => response.end()],
    ['null', (response) => response.end('null')],
    ['a list', (response) => response.end('[true]')],
    ['no active', (response) => response.end('{"sub":"ada"}')],
    ['active is a string', (response) => response.end('{"active":"true"}')],
    ['too large', (response) => response.end(JSON.stringify({ ...claims(), filler: 'x'.repeat(300_000) }))],
    ['a broken connection', (response) => response.destroy()],
    ['half a response', (response) => response.write('{"active":true', () => response.destroy())]
  ] as [string, (response: ServerResponse) => void][]) {
    provider.routes.set('/oauth2/introspect', (request, response) => void request.resume().on('end', () => fail(response)))
    const { status, code, headers } = await send()
    t.strictSame([status, code, headers['retry-after']], [503, 'AUTHENTICATION_UNAVAILABLE', '5'], name)
  }
  t.notOk(provider.requested.includes('/elsewhere'), 'the token and the secret are not sent to another URL')
  provider.routes.set('/oauth2/introspect', working)
  t.equal((await send()).status, 200)
  await provider.close()
  t.equal((await send()).status, 200, 'cached')
  t.equal((await send('another')).status, 503, 'no connection')
})

t.test('returns 503 when the introspection endpoint does not respond in 5 seconds', async (t) => {
  const { provider, send } = await introspected(t)
  const limits: number[] = []
  // It aborts only once the endpoint has the request: on a busy machine, a fixed time could end before.
  let controller = new AbortController()
  const replaced = mock.method(AbortSignal, 'timeout', (limit: number) => {
    limits.push(limit)
    controller = new AbortController()
    return controller.signal
  })
  t.teardown(() => replaced.mock.restore())
  for (const respond of [() => {}, (response: ServerResponse) => void response.write('{')]) {
    const { promise: aborted, resolve } = Promise.withResolvers<void>()
    provider.routes.set('/oauth2/introspect', (_request, response) => {
      response.on('close', resolve)
      respond(response)
      setTimeout(() => controller.abort(new DOMException('The operation timed out', 'TimeoutError')), 20)
    })
    t.equal((await send()).status, 503)
    await aborted
  }
  t.strictSame(limits, [5000, 5000])
})

t.test('sends neither other JWTs nor text that cannot be a token to the introspection endpoint', async (t) => {
  const own = ownIssuer()
  const provider = await new IdentityProvider().listen(t)
  const url = `${provider.origin}/oauth2/introspect`
  const kit = testKit({ issuer, audience: 'orders' })
  provider.serve('/oauth2/introspect', claims)
  const { app } = await service({ issuers: [own.issuer, introspection({ issuer, audience: 'orders', url, clientId, clientSecret })] })
  const send = async (text: string) => (await app.inject({ url: '/orders', headers: { authorization: `Bearer ${text}` } })).statusCode
  t.equal(await send(own.kit.token({ scope: 'orders:read' })), 200)
  t.equal(await send(own.kit.token({ scope: 'orders:read', aud: 'another' })), 401)
  t.equal(await send(own.kit.token({ iss: 'https://other.example.com' })), 401)
  for (const text of ['a b', 'ä', '"token"', 'a=b', 'a\tb', 'x'.repeat(4097), 'eyJ.eyJ.x'])
    t.equal(await send(text), 401, text.slice(0, 20))
  t.strictSame(provider.requested, [])
  t.equal(await send(kit.token()), 200, 'a JWT of this issuer')
  t.equal(await send('eyJ.eyJ'), 200, 'not a JWT')
  t.equal(await send('eyJ.a.b.c.d'), 200, 'an encrypted token')
  t.equal(provider.requested.length, 3)
})

t.test('rejects an introspected token whose subject was revoked, also when its issue time is unknown [U4]', async (t) => {
  const revocations = revocationFeed({ store: memoryRevocationStore() })
  const { active, app, send } = await introspected(t, { plugin: { revocations } })
  t.teardown(() => app.close())
  await app.ready()
  const { iat: _iat, nbf: _nbf, ...undated } = claims()
  active.set(token, undated)
  t.equal((await send()).status, 200)
  await revocations.revoke({ kind: 'subject', id: 'ada', issuedBefore: Date.now() - 60_000, until: Date.now() + 60_000 })
  t.equal((await send()).code, 'TOKEN_REVOKED')
  active.set('recent', claims())
  t.equal((await send('recent')).status, 200, 'issued after the revocation')
})

t.test('logs no opaque token, no claim and no client secret, even at the lowest level [U7]', async (t) => {
  const log = { text: '' }
  const logger = { level: 'trace', stream: { write: (line: string) => void (log.text += line) } }
  const { active, provider, send, endpoint } = await introspected(t, { fastify: { logger } })
  const responses: (object | string)[] = [
    { active: false, reason: 'CANARY' },
    { ...claims(), sub: 'CANARY' },
    { ...claims(), aud: 'CANARY' },
    { ...claims(), iss: 'CANARY', token_type: 'CANARY' },
    '{"active": CANARY',
    '"CANARY"'
  ]
  for (const [index, response] of responses.entries()) {
    const opaque = `CANARY-${index}-opaque-token`
    if (typeof response === 'object') active.set(opaque, response)
    else provider.routes.set('/oauth2/introspect', (_request, sent) => void sent.end(response))
    const sent = await send(opaque)
    if (sent.status !== 200) t.notMatch(JSON.stringify(sent.principal), 'CANARY')
    await send(`${opaque}${'x'.repeat(5000)}`)
    await send(`${opaque} x`)
  }
  provider.routes.delete('/oauth2/introspect')
  await send('CANARY')
  await provider.close()
  await send('CANARY')
  for (const reason of [
    'the issuer reports that it is not active',
    'aud does not name this service',
    'returned status code 404',
    'fetch failed'
  ]) {
    t.match(log.text, reason)
  }
  t.notMatch(log.text, 'CANARY')
  t.notMatch(log.text, /s%25cret|Basic /)
  t.notMatch(JSON.stringify(introspection(endpoint)), 'CANARY')
})

t.test('rejects invalid options of introspection in one line, without the secret', async (t) => {
  const right = { issuer, audience: 'orders', url: 'https://id.example.com/introspect', clientId, clientSecret }
  for (const [change, says] of [
    [{ url: 'http://id.example.com/introspect' }, /options\.url of the issuer https:\/\/id\.example\.com must be an https URL without/],
    [{ url: undefined }, /options\.url of the issuer/],
    [{ clientId: '' }, /options\.clientId of the issuer https:\/\/id\.example\.com must be a non-empty string/],
    [{ clientSecret: undefined }, /options\.clientSecret of the issuer https:\/\/id\.example\.com must be a non-empty string/],
    [{ cacheSeconds: -1 }, /options\.cacheSeconds must be a number from 0 to 60, but is -1/],
    [{ audience: [] }, /options\.audience of the issuer https:\/\/id\.example\.com is missing or empty/]
  ] as [Partial<IntrospectionOptions>, RegExp][]) {
    t.throws(() => introspection({ ...right, ...change }), { name: 'TypeError', message: says })
  }
  for (const url of ['http://localhost:8080/i', 'http://127.0.0.1/i', 'http://[::1]/i'])
    t.doesNotThrow(() => introspection({ ...right, url }))
  const other = introspection({ ...right, issuer: 'https://other.example.com' })
  await t.rejects(service({ issuers: [introspection(right), other] }), {
    name: 'TypeError',
    message: /options\.issuers contains two introspection endpoints, of https:\/\/id\.example\.com and https:\/\/other\.example\.com/
  })
})
