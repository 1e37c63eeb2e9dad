import { introspection } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import t from 'tap'
import { clock, IdentityProvider, seconds, type Tap } from './identity-provider.ts'
import { audience, service } from './service.ts'

const issuer = 'https://id.example.com'
const kit = testKit({ issuer, audience })
// Its issuer verifies no signature here, so nothing but the checks of this package refuses a token.
const right = () => ({ iss: issuer, aud: audience, sub: 'ada', scope: 'orders:read', iat: seconds() - 10, exp: seconds() + 60 })

const now = () => Date.now() / 1000
const encoded = (text: string | Buffer) => Buffer.from(text).toString('base64url')
// Texts, and values of other types, that are almost this one.
const near = (text: string) => [
  `${text}x`,
  `x${text}`,
  text.slice(0, -1),
  text.slice(1),
  text.toUpperCase(),
  `${text} `,
  `${text}/`,
  [text, 1],
  [[text]],
  { [text]: text }
]

async function introspected(t: Tap) {
  clock(t)
  const provider = await new IdentityProvider().listen(t)
  let response: object = {}
  provider.serve('/introspect', () => ({ active: true, ...right(), ...response }))
  const endpoint = { issuer, audience, url: `${provider.origin}/introspect`, clientId: 'orders', clientSecret: 'not-a-secret' }
  const { app } = await service({ issuers: [introspection({ ...endpoint, cacheSeconds: 0 })] })
  const send = async (token: string, claims: object = {}) => {
    response = claims
    const { statusCode } = await app.inject({ url: '/orders', headers: { authorization: `Bearer ${token}` } })
    return statusCode
  }
  return { provider, send }
}

t.test('refuses a JWT whose form is almost that of an access token, without a request to its issuer [U2]', async (t) => {
  const { provider, send } = await introspected(t)
  const header = { alg: 'ES256', typ: 'at+jwt', kid: 'test' }
  const valid = kit.signed(header, right())
  t.equal(await send(valid), 200)
  const requests = provider.requested.length
  const [head, body, signature] = valid.split('.')
  const json = JSON.stringify(right())
  const tokens = {
    ...Object.fromEntries(
      ['jwk', 'jku', 'x5c', 'x5u', 'crit', 'b64', 'enc', 'zip', 'cty'].map((name) => [
        name,
        kit.signed({ ...header, [name]: null }, right())
      ])
    ),
    'no alg': kit.signed({ ...header, alg: undefined }, right()),
    'alg is a list': kit.signed({ ...header, alg: ['ES256'] }, right()),
    'no kid': kit.signed({ ...header, kid: undefined }, right()),
    'kid is a number': kit.signed({ ...header, kid: 1 }, right()),
    'a list as payload': `${head}.${encoded(JSON.stringify([right()]))}.${signature}`,
    'null as payload': `${head}.${encoded('null')}.${signature}`,
    'text that is not UTF-8': `${head}.${encoded(Buffer.concat([Buffer.from(json.slice(0, -1)), Buffer.from(',"a":"\xff"}', 'latin1')]))}.${signature}`,
    'a repeated member': `${head}.${encoded(`${json.slice(0, -1)},"sub":"eve"}`)}.${signature}`,
    'a repeated member in another spelling': `${head}.${encoded(`${json.slice(0, -1)},"s\\u0075b":"eve"}`)}.${signature}`,
    'a repeated nested member': `${head}.${encoded(`${json.slice(0, -1)},"a":[{"b":1,"b":2}]}`)}.${signature}`,
    padding: `${head}.${body}.${signature}=`,
    'unused bits': `${head}.${encoded('{}').slice(0, -1)}1.${signature}`,
    'no signature': `${head}.${body}.`,
    'the alphabet of base64': `${head}.${body}.+${signature?.slice(1)}`
  }
  for (const [name, token] of Object.entries(tokens)) t.equal(await send(token), 401, name)
  t.equal(provider.requested.length, requests)
})

t.test('refuses claims that are almost those of an access token for this service [U2]', async (t) => {
  const { send } = await introspected(t)
  const accepted = [
    {},
    { aud: ['other', audience] },
    { typ: 'Bearer', token_use: 'access' },
    { typ: 'access_token' },
    { sub: 'x'.repeat(255) },
    { iat: now() + 5 },
    { nbf: now() + 5 },
    { iat: now() - 20, exp: now() - 4.999 }
  ]
  for (const claims of accepted) t.equal(await send('opaque', claims), 200, JSON.stringify(claims))
  const refused = [
    ...near(issuer).map((iss) => ({ iss })),
    [issuer].map((iss) => ({ iss: [iss] }))[0],
    ...near(audience).map((aud) => ({ aud })),
    { aud: [audience, ''] },
    { aud: [] },
    ...[...near('bearer'), 'ID', 'refresh', '', 1, null, ['bearer']].filter((typ) => typ !== 'BEARER').map((typ) => ({ typ: typ ?? 'x' })),
    ...[...near('access'), 'id'].filter((use) => use !== 'ACCESS').map((use) => ({ token_use: use })),
    ...['nonce', 'at_hash', 'c_hash', 's_hash', 'events'].flatMap((name) => [{ [name]: 'x' }, { [name]: null }, { [name]: '' }]),
    ...['jti', 'sid', 'client_id'].flatMap((name) => [{ [name]: '' }, { [name]: 1 }, { [name]: ['x'] }, { [name]: null }]),
    ...['', 'x'.repeat(256), 1, ['ada'], null].map((sub) => ({ sub })),
    { iat: now() + 5.001, exp: now() + 60 },
    { nbf: now() + 5.001 },
    { iat: now() - 20, exp: now() - 5 },
    { iat: now() - 20, exp: now() - 5.001 },
    { iat: now() - 10, exp: now() - 10 },
    { iat: -1 },
    { nbf: -1 },
    { iat: now() - 20, nbf: now() - 5, exp: now() - 5 },
    ...[2 ** 53, 1e300, -0.5, String(now() + 60), [now() + 60], true, null].map((exp) => ({ exp }))
  ]
  for (const claims of refused) t.equal(await send('opaque', claims), 401, JSON.stringify(claims))
  t.ok(refused.length > 80, `${refused.length} refusals`)
})
