import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { mock } from 'node:test'
import { type AuthenticationOptions, outsideIssuer, ownTokens, type TrustedIssuer } from '@concordat/authentication'
import { type TestKit, testKit } from '@concordat/authentication/testing'
import t from 'tap'
import { audience, issuer, ownIssuer, service } from './service.ts'

type Revocations = NonNullable<AuthenticationOptions['revocations']>
type Fetch = TestKit['fetch']

const scope = 'orders:read'
const jwksUrl = 'https://tokens.example.com/keys'

function counting(trusted: TrustedIssuer) {
  const counter = { calls: 0, issuer: trusted }
  counter.issuer = {
    ...trusted,
    verify: async (...given) => {
      counter.calls += 1
      return trusted.verify(...given)
    }
  }
  return counter
}

/** Lets a test advance the clock; timers and promises run as usual. */
function clock(t: Tap) {
  mock.timers.enable({ apis: ['Date'], now: Date.now() })
  t.teardown(() => mock.timers.reset())
  return (milliseconds: number) => mock.timers.tick(milliseconds)
}
type Tap = Pick<typeof t, 'teardown'>

t.test('verifies a token once and caches it for a minute, but not beyond its expiry', async (t) => {
  const advance = clock(t)
  const { kit, issuer: own } = ownIssuer()
  const counter = counting(own)
  const { app } = await service({ issuers: [counter.issuer] })
  const now = Math.floor(Date.now() / 1000)
  const long = kit.headers({ scope })
  const short = kit.headers({ scope, exp: now + 20 })
  const send = async (headers: { authorization: string }) => (await app.inject({ url: '/orders', headers })).json().code ?? 'let in'

  for (const headers of [long, long, short, short]) t.equal(await send(headers), 'let in')
  t.equal(counter.calls, 2)
  advance(26_000)
  t.equal(await send(short), 'TOKEN_EXPIRED')
  t.equal(await send(long), 'let in')
  t.equal(counter.calls, 3, 'only the short-lived token was verified again')
  advance(40_000)
  t.equal(await send(long), 'let in')
  t.equal(counter.calls, 4, 'after a minute')
})

t.test('verifies a token once for concurrent requests', async (t) => {
  const { kit, issuer: own } = ownIssuer('RS256')
  const counter = counting(own)
  const { app } = await service({ issuers: [counter.issuer] })
  await app.ready()
  const [headers, bad] = [kit.headers({ scope }), kit.headers({ aud: 'another' })]
  const responses = await Promise.all(Array.from({ length: 20 }, () => app.inject({ url: '/orders', headers })))
  t.ok(responses.every(({ statusCode }) => statusCode === 200))
  t.equal(counter.calls, 1)
  const refused = await Promise.all(Array.from({ length: 20 }, () => app.inject({ url: '/orders', headers: bad })))
  t.ok(refused.every(({ statusCode }) => statusCode === 401))
  t.equal(counter.calls, 2)
  t.equal((await app.inject({ url: '/orders', headers: bad })).statusCode, 401)
  t.equal(counter.calls, 3, 'a failure is not cached')
})

t.test('distinguishes a token from a cached one with the same signature', async (t) => {
  const { kit, issuer: own } = ownIssuer()
  const { app } = await service({ issuers: [own] })
  const [remembered, other] = [kit.headers({ scope }), kit.headers({ scope, sub: 'somebody else' })]
  const [head, , signature] = remembered.authorization.split('.')
  const forged = { authorization: [head, other.authorization.split('.')[1], signature].join('.') }
  for (const [headers, status] of [
    [remembered, 200],
    [forged, 401],
    [remembered, 200]
  ] as const)
    t.equal((await app.inject({ url: '/orders', headers })).statusCode, status)
})

t.test('caches at most 10,000 tokens', async (t) => {
  const { kit, issuer: own } = ownIssuer('HS256')
  const counter = counting(own)
  const { app } = await service({ issuers: [counter.issuer] })
  const send = async (headers: object) => (await app.inject({ url: '/orders', headers: { ...headers } })).statusCode
  const [first, last] = [kit.headers({ scope }), kit.headers({ scope })]
  for (const headers of [first, first]) t.equal(await send(headers), 200)
  for (let count = 1; count < 10_000; count += 1) await send(kit.headers({ scope }))
  await send(first)
  t.equal(counter.calls, 10_000, 'the first is still cached')
  for (const headers of [last, last, first]) t.equal(await send(headers), 200)
  t.equal(counter.calls, 10_002, 'the last took the place of the first')
})

t.test('rejects a revoked token immediately, although it is cached [S2] [U4]', async (t) => {
  const revoked = new Set<string>()
  const revocations = {
    staleMs: 0,
    isRevoked: ({ jti, sid, sub }: Parameters<Revocations['isRevoked']>[0]) => [jti, sid, sub].some((name) => revoked.has(name ?? ''))
  }
  const { app, kit } = await service({ revocations })
  const headers = kit.headers({ scope, jti: 't1', sid: 's1' })
  const send = () => app.inject({ url: '/orders', headers })
  t.equal((await send()).statusCode, 200)
  revoked.add('s1')
  const response = await send()
  t.equal(response.statusCode, 401)
  t.equal(response.json().code, 'TOKEN_REVOKED')
  t.equal(response.headers['www-authenticate'], 'Bearer realm="api", error="invalid_token"')
  t.equal(
    (await app.inject({ url: '/orders', headers: kit.headers({ scope, sid: 's1' }) })).json().code,
    'TOKEN_REVOKED',
    'a new token of the session too'
  )
})

t.test('returns 503 with Retry-After for tokens while the revocations are not up to date [U4]', async (t) => {
  const revocations = { staleMs: 0, isRevoked: () => false }
  const { app, kit } = await service({ revocations })
  const headers = kit.headers({ scope })
  for (const [staleMs, status] of [
    [0, 200],
    [5000, 200],
    [5001, 503],
    [Number.POSITIVE_INFINITY, 503],
    [Number.NaN, 503],
    [100, 200]
  ] as const) {
    revocations.staleMs = staleMs
    const response = await app.inject({ url: '/orders', headers })
    t.equal(response.statusCode, status, String(staleMs))
    if (status === 503) t.match([response.json().code, response.headers['retry-after']], ['AUTHENTICATION_UNAVAILABLE', '5'])
  }
  revocations.staleMs = 60_000
  t.equal((await app.inject('/public')).statusCode, 200)
  t.equal((await app.inject({ url: '/public', headers })).statusCode, 200, 'a public route ignores what it cannot verify')
})

t.test('signs with the first key that can, and accepts tokens of the old key until it is removed', async (t) => {
  const next = testKit({ issuer, audience, kid: '2026-02', algorithm: 'EdDSA' })
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = { type: 'spki', format: 'pem' } as const
  const before = ownTokens({ issuer, audience, keys: [{ kid: '2026-01', algorithm: 'ES256', privateKey }] })
  const during = ownTokens({
    issuer,
    audience,
    keys: [{ kid: '2026-01', algorithm: 'ES256', publicKey: publicKey.export(pem).toString() }, ...next.keys]
  })
  const after = ownTokens({ issuer, audience, keys: next.keys })
  const [oldToken, newToken] = [await before.sign({ sub: 'ada', scope }), await during.sign({ sub: 'ada', scope })]
  t.match(JSON.parse(Buffer.from(newToken.split('.')[0] ?? '', 'base64url').toString()), { alg: 'EdDSA', typ: 'at+jwt', kid: '2026-02' })
  for (const [tokens, token, good] of [
    [during, oldToken, true],
    [during, newToken, true],
    [after, newToken, true],
    [after, oldToken, false],
    [before, newToken, false]
  ] as const) {
    const { app } = await service({ issuers: [tokens] })
    const { statusCode } = await app.inject({ url: '/orders', headers: { authorization: `Bearer ${token}` } })
    t.equal(statusCode, good ? 200 : 401)
  }
})

t.test('fills in the claims in sign, and signs no token that verify would reject [U3] [X7]', async (t) => {
  const { kit } = ownIssuer()
  const tokens = ownTokens({ issuer, audience: [audience, 'billing'], keys: kit.keys, maxLifetimeSeconds: 600 })
  const claims = await tokens.verify(await tokens.sign({ sub: 'ada', sid: 's1' }))
  t.match(claims, { iss: issuer, aud: [audience, 'billing'], sub: 'ada', sid: 's1', jti: /^[\da-f-]{36}$/ })
  const longest = 'x'.repeat(255)
  t.equal((await tokens.verify(await tokens.sign({ sub: longest }))).sub, longest)
  t.equal(claims.exp - claims.iat, 600)
  t.equal(claims.nbf, claims.iat)
  t.equal(tokens.maxLifetimeSeconds, 600)
  for (const wrong of [
    { sub: '' },
    { sub: 'ada', exp: claims.iat + 700 },
    { sub: 'ada', iss: 'x' },
    { sub: 'ada', aud: 'x' },
    { sub: 'ada', nonce: 'n' },
    { sub: 'ada', jti: undefined as never },
    { sub: 'ada', roles: 'x' as never },
    { sub: 'ada', scope: ['orders:read'] as never }
  ]) {
    await t.rejects(
      tokens.sign(wrong),
      { name: 'TypeError', message: /the claims are not signed, because verify would reject them/ },
      JSON.stringify(wrong)
    )
  }
  await t.rejects(tokens.sign({ sub: 'ada', filler: 'x'.repeat(5000) }), /the token exceeds 4096 characters/)
  const { publicKey } = generateKeyPairSync('ed25519')
  const verifying = ownTokens({ issuer, audience, keys: [{ kid: '1', algorithm: 'EdDSA', publicKey }] })
  await t.rejects(verifying.sign({ sub: 'ada' }), { name: 'TypeError', message: /options\.keys contains no key that can sign/ })
})

t.test('adds no decorators of @fastify/jwt to the service', async (t) => {
  const { app } = await service()
  for (const name of ['jwt', 'jwtSign']) t.equal(app.hasDecorator(name), false)
  for (const name of ['user', 'jwtVerify', 'jwtDecode']) t.equal(app.hasRequestDecorator(name), false)
})

/** Serves the keys of some kits, unless `response` is set. */
class KeyServer {
  kits: { readonly fetch: Fetch }[]
  fetched = 0
  response: (() => Response | Promise<Response>) | undefined

  constructor(...kits: { readonly fetch: Fetch }[]) {
    this.kits = kits
  }

  readonly fetch: Fetch = async (url, init) => {
    this.fetched += 1
    if (this.response !== undefined) return this.response()
    const sets = await Promise.all(this.kits.map(async (kit) => (await kit.fetch(url, init)).json() as Promise<{ keys: object[] }>))
    return Response.json({ keys: sets.flatMap(({ keys }) => keys) })
  }
}

t.test('fetches the keys of an outside issuer once for concurrent requests, and again for a new kid after 30 seconds', async (t) => {
  const advance = clock(t)
  const [old, next, foreign] = ['1', '2', '3'].map((kid) => testKit({ issuer, audience, kid })) as [
    ReturnType<typeof testKit>,
    ReturnType<typeof testKit>,
    ReturnType<typeof testKit>
  ]
  const server = new KeyServer(old)
  const { app } = await service({ issuers: [outsideIssuer({ issuer, audience, jwksUrl, algorithms: ['ES256'], fetch: server.fetch })] })
  const send = async (kit: typeof old) => (await app.inject({ url: '/orders', headers: kit.headers({ scope }) })).statusCode
  t.strictSame(await Promise.all([send(old), send(old), send(old)]), [200, 200, 200])
  t.equal(server.fetched, 1)
  server.kits = [next, old]
  t.equal(await send(next), 401, 'not yet')
  t.equal(server.fetched, 1, 'unknown kids cause no further fetch')
  advance(30_000)
  t.equal(await send(next), 200)
  t.equal(server.fetched, 2)
  t.equal(await send(foreign), 401)
  t.equal(server.fetched, 2)
  server.kits = [next]
  advance(600_000)
  t.equal(await send(old), 401, 'a withdrawn key')
  t.equal(await send(next), 200)
})

t.test('returns 503 when an outside issuer is unavailable, and does not call it for each request', async (t) => {
  const kit = testKit({ issuer, audience })
  for (const response of [
    () => Promise.reject(new Error('down')),
    () => new Response('no', { status: 500 }),
    () => new Response(null, { status: 302, headers: { location: 'https://elsewhere.example' } }),
    () => new Response('<html>'),
    () => new Response(null),
    () => new Response('null'),
    () => Response.json({ keys: 1 }),
    async () => {
      const set = (await (await kit.fetch('', {})).json()) as object
      return Response.json({ ...set, filler: 'x'.repeat(300_000) })
    },
    () => Response.json({ keys: [{ kty: 'EC', kid: 'test', alg: 'ES256', crv: 'P-256', x: 'AA', y: 'AA' }] })
  ]) {
    const server = new KeyServer(kit)
    server.response = response
    const { app } = await service({ issuers: [outsideIssuer({ issuer, audience, jwksUrl, algorithms: ['ES256'], fetch: server.fetch })] })
    for (let time = 0; time < 3; time += 1) {
      const refused = await app.inject({ url: '/orders', headers: kit.headers({ scope }) })
      t.equal(refused.statusCode, 503)
      t.match([refused.json().code, refused.headers['retry-after']], ['AUTHENTICATION_UNAVAILABLE', '5'])
    }
    t.equal(server.fetched, 1)
  }
})

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const jwk = (key: KeyObject, members: object) => ({ ...key.export({ format: 'jwk' }), ...members })
// Each as an issuer may publish it beside valid keys, and what the log says.
const badEntries: readonly (readonly [what: string, entry: unknown, fault: string])[] = [
  ...[null, 1, 'key', true, []].map((entry) => [JSON.stringify(entry), entry, 'entry 0 is not an object'] as const),
  ['a private key', jwk(ec.privateKey, { kid: 'bad', alg: 'ES256' }), '"bad" is not a public key'],
  ['a private key with the kid of the valid one', jwk(ec.privateKey, { kid: 'test', alg: 'ES256' }), '"test" is not a public key'],
  ['a private key without a kid', jwk(ec.privateKey, {}), 'entry 0 is not a public key'],
  ['a secret', { kty: 'oct', kid: 'bad', k: 'c2VjcmV0' }, '"bad" is not a public key'],
  ['a kid that is a number', jwk(ec.publicKey, { kid: 1 }), 'entry 0 has a kid that is not a string'],
  ...[
    { kty: 'XYZ' },
    { kty: 1 },
    {},
    { kty: 'RSA' },
    { kty: 'RSA', n: 1, e: 'AQAB' },
    { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' },
    { kty: 'EC', crv: 'P-999', x: 'AA', y: 'AA' },
    { kty: 'OKP', crv: 'Ed25519', x: '' }
  ].map((entry) => [JSON.stringify(entry), { ...entry, kid: 'bad' }, '"bad" has an unknown type or invalid members'] as const)
]

t.test('skips an entry of a key set that is not a usable key, logs it once, and accepts the tokens of the others', async (t) => {
  const advance = clock(t)
  for (const algorithm of ['ES256', 'RS256'] as const) {
    const kit = testKit({ issuer, audience, algorithm })
    for (const [what, entry, fault] of badEntries) {
      const fetch: Fetch = async (url, init) => {
        const { keys } = (await (await kit.fetch(url, init)).json()) as { keys: unknown[] }
        return Response.json({ keys: [entry, ...keys] })
      }
      const lines: { level: number; msg: string }[] = []
      const { app } = await service(
        { issuers: [outsideIssuer({ issuer, audience, jwksUrl, algorithms: [algorithm], fetch })] },
        { fastify: { logger: { level: 'warn', stream: { write: (line: string) => void lines.push(JSON.parse(line)) } } } }
      )
      for (let time = 0; time < 2; time += 1) {
        t.equal((await app.inject({ url: '/orders', headers: kit.headers({ scope }) })).statusCode, 200, `${what}, ${algorithm}`)
        advance(600_000)
      }
      t.match(lines, [{ level: 40, msg: `the key set of ${issuer} has keys that cannot be used: ${fault}. Tokens` }], what)
      t.equal(lines.length, 1)
    }
  }
})

t.test('logs at most 100 entries of an issuer that publishes other invalid ones each time', async (t) => {
  const advance = clock(t)
  const kit = testKit({ issuer, audience })
  let count = 0
  const fetch: Fetch = async (url, init) => {
    const { keys } = (await (await kit.fetch(url, init)).json()) as { keys: unknown[] }
    return Response.json({ keys: [...keys, ...Array.from({ length: 60 }, () => ({ kty: 'XYZ', kid: String((count += 1)) }))] })
  }
  const lines: string[] = []
  const { app } = await service(
    { issuers: [outsideIssuer({ issuer, audience, jwksUrl, algorithms: ['ES256'], fetch })] },
    { fastify: { logger: { level: 'warn', stream: { write: (line: string) => void lines.push(line) } } } }
  )
  for (let time = 0; time < 4; time += 1) {
    t.equal((await app.inject({ url: '/orders', headers: kit.headers({ scope }) })).statusCode, 200)
    advance(600_000)
  }
  t.strictSame(
    lines.map((line) => line.split('unknown type').length - 1),
    [60, 40]
  )
})

t.test('calls an outside issuer again after a pause', async (t) => {
  const kit = testKit({ issuer, audience })
  const server = new KeyServer(kit)
  server.response = () => Promise.reject(new Error('down'))
  const { app } = await service({ issuers: [outsideIssuer({ issuer, audience, jwksUrl, algorithms: ['ES256'], fetch: server.fetch })] })
  const send = async () => (await app.inject({ url: '/orders', headers: kit.headers({ scope }) })).statusCode
  t.equal(await send(), 503)
  server.response = undefined
  t.equal(await send(), 503)
  const original = performance.now.bind(performance)
  t.teardown(() => (performance.now = original))
  performance.now = () => original() + 5000
  t.equal(await send(), 200)
})

t.test('supports two issuers, each with its own audience and algorithms', async (t) => {
  const [first, second] = [
    testKit({ issuer: 'https://one.example', audience: 'a' }),
    testKit({ issuer: 'https://two.example', audience: 'b', algorithm: 'RS256' })
  ]
  const { app } = await service({
    issuers: [
      outsideIssuer({ issuer: 'https://one.example', audience: 'a', jwksUrl, algorithms: ['ES256'], fetch: first.fetch }),
      outsideIssuer({ issuer: 'https://two.example', audience: 'b', jwksUrl, algorithms: ['RS256'], fetch: second.fetch })
    ]
  })
  const send = async (headers: { authorization: string }) => (await app.inject({ url: '/orders', headers })).statusCode
  t.equal(await send(first.headers({ scope })), 200)
  t.equal(await send(second.headers({ scope })), 200)
  t.equal(await send(first.headers({ scope, aud: 'b' })), 401)
  t.equal(await send(first.headers({ scope, iss: 'https://two.example', aud: 'b' })), 401)
})

t.test('fetches keys with the global fetch by default', async (t) => {
  const trusted = outsideIssuer({ issuer, audience, jwksUrl: 'https://127.0.0.1:1/keys', algorithms: ['ES256'] })
  const kit = testKit({ issuer, audience })
  await t.rejects(trusted.verify(kit.token()), { code: 'AUTHENTICATION_UNAVAILABLE' })
})

t.test('sends one response when a hook fails after a verification', async (t) => {
  const { kit, issuer: own } = ownIssuer()
  const { app } = await service(
    { issuers: [own] },
    {
      fastify: {},
      routes: (app) =>
        app.get(
          '/failing',
          {
            config: { permissions: ['orders:read'] },
            onRequest: () => {
              throw new Error('later hook')
            }
          },
          async () => 'x'
        )
    }
  )
  const headers = kit.headers({ scope })
  for (let time = 0; time < 2; time += 1) t.equal((await app.inject({ url: '/failing', headers })).statusCode, 500)
})

t.test('only a token with a valid signature reveals that it was revoked', async (t) => {
  const { kit, issuer: own } = ownIssuer()
  const revocations = { isRevoked: () => true, staleMs: 0 }
  const { app } = await service({ issuers: [own], revocations })
  const forger = testKit({ issuer, audience, algorithm: 'ES256' })
  const codeOf = async (headers: Record<string, string>) => (await app.inject({ url: '/orders', headers })).json().code
  t.equal(await codeOf(kit.headers({ scope })), 'TOKEN_REVOKED')
  t.equal(await codeOf(forger.headers({ scope })), 'INVALID_TOKEN')
})
