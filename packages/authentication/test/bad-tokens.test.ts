import { mock } from 'node:test'
import { outsideIssuer, ownTokens } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import { scaled } from '@concordat/test-harness/scale'
import * as fc from 'fast-check'
import t from 'tap'
import { audience, issuer, outside, ownIssuer, service } from './service.ts'

const verifiers = [
  ...(['HS256', 'RS256', 'ES256', 'EdDSA'] as const).map((algorithm) => ({ name: `own tokens, ${algorithm}`, ...ownIssuer(algorithm) })),
  ...(['RS256', 'PS256', 'ES256', 'EdDSA'] as const).map((algorithm) => ({
    name: `an outside issuer, ${algorithm}`,
    ...outside(algorithm)
  }))
]

for (const { name, kit, issuer: trusted } of verifiers) {
  t.test(`${name}: accepts valid tokens and returns 401 with a challenge for each bad token [U1] [U2]`, async (t) => {
    const { app } = await service({ issuers: [trusted] })
    for (const claims of [{}, { jti: 'x' }, { nbf: undefined }, { aud: [audience, 'another'] }, { scope: 'orders:read profile' }]) {
      if ('nbf' in claims && name.startsWith('own')) continue
      const response = await app.inject({ url: '/orders', headers: kit.headers({ scope: 'orders:read', ...claims }) })
      t.equal(response.statusCode, 200, JSON.stringify(claims))
      t.equal(response.json().subject, 'test-user')
    }

    const bad = kit.badTokens()
    t.ok(bad.length >= 120, `${bad.length} tokens`)
    t.equal(new Set(bad.map(({ name }) => name)).size, bad.length, 'each name is unique')
    for (const { name, token, expired } of bad) {
      const response = await app.inject({ url: '/orders', headers: { authorization: `Bearer ${token}` } })
      t.equal(response.statusCode, 401, name)
      t.equal(response.json().code, expired ? 'TOKEN_EXPIRED' : 'INVALID_TOKEN', name)
      t.equal(response.headers['www-authenticate'], 'Bearer realm="api", error="invalid_token"', name)
    }
  })

  t.test(`${name}: never returns 500, whatever string is sent as a token [U2]`, async (t) => {
    const { app } = await service({ issuers: [trusted] })
    const [head = '', body = '', signature = ''] = kit.token().split('.')
    const json = fc.json({ maxDepth: 3 })
    const text = fc.oneof(
      fc.string().map((text) => text.replace(/[^!-+\--~]/g, '')),
      fc.tuple(json, json).map(([header, payload]) => kit.signed(header, payload)),
      json.map((payload) => kit.signed({ alg: 'x', kid: 'test' }, payload)),
      fc.dictionary(fc.constantFrom('alg', 'typ', 'kid', 'crit', 'x'), fc.jsonValue()).map((header) => kit.signed(header, '{}')),
      fc.nat(head.length - 1).map((at) => `${head.slice(0, at)}A${head.slice(at + 1)}x.${body}.${signature}`)
    )
    await fc.assert(
      fc.asyncProperty(text, async (token) => {
        const { statusCode } = await app.inject({ url: '/orders', headers: { authorization: `Bearer ${token}` } })
        return statusCode === 401 || (token === '' && statusCode === 400)
      }),
      { numRuns: scaled(50, 1000) }
    )
    t.pass()
  })
}

for (const { name, kit, issuer: trusted } of verifiers) {
  t.test(`${name}: accepts times with a fraction, scope as a list, and one role as a string [U2]`, async (t) => {
    const { app } = await service({ issuers: [trusted], roles: { staff: ['orders:*'], 'Shop Manager': ['orders:read'] } })
    const now = Date.now() / 1000
    const scope = 'orders:read profile'
    for (const [claims, expected] of [
      [
        { scope, exp: now + 200.123_456 },
        { permissions: ['orders:read'], claims: { scope } }
      ],
      [{ scope, iat: now - 0.001, nbf: now - 0.001 }, { permissions: ['orders:read'] }],
      [{ scope, iat: now - 60.5, nbf: now - 360.25, exp: now + 0.75 + 60 }, { permissions: ['orders:read'] }],
      [{ scope: ['orders:read', 'openid'] }, { permissions: ['orders:read'], claims: { scope: 'orders:read openid' } }],
      [
        { scope: [], roles: 'staff' },
        { roles: ['staff'], claims: { scope: '', roles: ['staff'] } }
      ],
      [{ roles: 'Shop Manager' }, { roles: ['Shop Manager'], permissions: ['orders:read'], claims: { roles: ['Shop Manager'] } }],
      [
        { scope: ['orders:create', 'orders:read'], roles: ['unknown'] },
        { permissions: ['orders:create', 'orders:read'], roles: [] }
      ]
    ] as const) {
      const response = await app.inject({ url: '/orders', headers: kit.headers(claims) })
      t.equal(response.statusCode, 200, `${JSON.stringify(claims)} ${response.body}`)
      t.match(response.json(), expected, JSON.stringify(claims))
    }
    const manager = await app.inject({ url: '/orders', headers: kit.headers({ roles: 'manager staff' }) })
    t.equal(manager.statusCode, 403, 'a string is one role, also with a space')
  })
}

t.test('compares times with a fraction exactly, with a tolerance of 5 s [U2]', async (t) => {
  mock.timers.enable({ apis: ['Date'], now: 1_800_000_000_900 })
  t.teardown(() => mock.timers.reset())
  const [own, other] = [testKit({ issuer, audience }), testKit({ issuer, audience })]
  const strict = { issuer, audience }
  const key = { jwksUrl: 'https://tokens.example.com/keys', algorithms: ['ES256'], fetch: other.fetch } as const
  for (const [kit, trusted] of [
    [own, ownTokens({ ...strict, keys: own.keys })],
    [other, outsideIssuer({ ...strict, ...key })]
  ] as const) {
    const { app } = await service({ issuers: [trusted] })
    const send = async (claims: object) => {
      const response = await app.inject({ url: '/orders', headers: kit.headers({ scope: 'orders:read', ...claims }) })
      return response.json().code ?? response.statusCode
    }
    const now = 1_800_000_000
    t.equal(await send({ iat: now, nbf: now + 5.8, exp: now + 60 }), 200)
    t.equal(await send({ iat: now, nbf: now + 5.95, exp: now + 60 }), 'INVALID_TOKEN')
    t.equal(await send({ iat: now + 5.95, nbf: now, exp: now + 60 }), 'INVALID_TOKEN')
    t.equal(await send({ iat: now - 60, nbf: now - 60, exp: now - 4.05 }), 200)
    t.equal(await send({ iat: now - 60, nbf: now - 60, exp: now - 4.15 }), 'TOKEN_EXPIRED')
  }
})

t.test('accepts a valid token with any additional claims and member names', async (t) => {
  for (const { kit, issuer: trusted } of [ownIssuer(), outside()]) {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.string(), async (value, name) => {
        const token = kit.token({ tenant: { [name]: value, list: [value, name, '":{"', '\\"'] } })
        if (token.length <= 4096) t.strictSame((await trusted.verify(token)).sub, 'test-user')
      }),
      { numRuns: scaled(50, 1000) }
    )
  }
})

t.test('rejects an own token without nbf or jti, which the service always sets', async (t) => {
  const { app, kit } = await service()
  for (const claims of [{ nbf: undefined }, { jti: undefined }]) {
    t.equal((await app.inject({ url: '/orders', headers: kit.headers(claims) })).statusCode, 401)
  }
})

t.test('returns INVALID_TOKEN for an expired token with another fault', async (t) => {
  for (const { kit, issuer: trusted } of verifiers) {
    const { app } = await service({ issuers: [trusted] })
    const past = Math.floor(Date.now() / 1000) - 1000
    for (const claims of [{ aud: 'another' }, { iss: 'https://attacker.example' }, { sub: 1 }]) {
      const headers = kit.headers({ iat: past, nbf: past, exp: past + 300, ...claims })
      t.equal((await app.inject({ url: '/orders', headers })).json().code, 'INVALID_TOKEN', JSON.stringify(claims))
    }
  }
})

t.test('rejects a token of an untrusted issuer, also with several trusted issuers', async (t) => {
  const other = testKit({ issuer: 'https://other.example.com', audience })
  const { app } = await service({
    issuers: [ownIssuer().issuer, ownTokens({ issuer: 'https://third.example.com', audience, keys: other.keys })]
  })
  t.equal((await app.inject({ url: '/orders', headers: other.headers({ scope: 'orders:read' }) })).statusCode, 401)
  const good = other.headers({ scope: 'orders:read', iss: 'https://third.example.com' })
  t.equal((await app.inject({ url: '/orders', headers: good })).statusCode, 200)
  const confused = other.headers({ scope: 'orders:read', iss: issuer })
  t.equal((await app.inject({ url: '/orders', headers: confused })).statusCode, 401, 'the key of one issuer is not valid for another')
})

t.test('rejects ID tokens of an outside issuer with the type JWT', async (t) => {
  const { kit } = outside()
  const { app } = await service({
    issuers: [
      outsideIssuer({ issuer, audience, jwksUrl: 'https://tokens.example.com/keys', algorithms: ['ES256'], type: 'JWT', fetch: kit.fetch })
    ]
  })
  const now = Math.floor(Date.now() / 1000)
  const claims = { iss: issuer, aud: audience, sub: 'a', iat: now, exp: now + 60, scope: 'orders:read', client_id: 'web' }
  const send = (payload: object, typ = 'JWT') =>
    app.inject({ url: '/orders', headers: { authorization: `Bearer ${kit.signed({ alg: 'ES256', kid: 'test', typ }, payload)}` } })
  t.equal((await send(claims)).statusCode, 200)
  t.equal((await send(claims, 'at+jwt')).statusCode, 401)
  for (const mark of [
    { nonce: 'n' },
    { at_hash: 'h' },
    { c_hash: 'h' },
    { token_use: 'id' },
    { typ: 'ID' },
    { typ: 'Refresh' },
    { client_id: undefined }
  ]) {
    t.equal((await send({ ...claims, ...mark })).statusCode, 401, JSON.stringify(mark))
  }
  t.equal((await send({ ...claims, typ: 'Bearer', token_use: 'access_token' })).statusCode, 200)
})
