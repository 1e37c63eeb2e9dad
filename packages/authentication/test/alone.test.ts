import { execFile } from 'node:child_process'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import authentication, { type AuthenticationOptions, memoryApiKeyStore, outsideIssuer, ownTokens } from '@concordat/authentication'
import { hidePackage } from '@concordat/test-harness/hidden-package'
import Fastify from 'fastify'
import t from 'tap'
import { audience, issuer, ownIssuer, permissions, service } from './service.ts'

t.test('returns each error with its code and challenge in stock Fastify', async (t) => {
  const { app, kit } = await service()
  const nobody = await app.inject('/orders')
  t.strictSame(nobody.json(), {
    statusCode: 401,
    code: 'AUTHENTICATION_REQUIRED',
    error: 'Unauthorized',
    message: 'Authentication is required. Send valid credentials in the Authorization header.'
  })
  const wrong = await app.inject({ url: '/orders', headers: { authorization: 'Bearer x' } })
  t.match(wrong.json(), { statusCode: 401, code: 'INVALID_TOKEN', message: 'The access token is invalid. Request a new one.' })
  const weak = await app.inject({ url: '/orders', headers: kit.headers() })
  t.match(weak.json(), {
    statusCode: 403,
    code: 'INSUFFICIENT_PERMISSION',
    message: 'You do not have permission to do this. Required: orders:read.'
  })
})

type OutsideIssuerOptions = Parameters<typeof outsideIssuer>[0]
type OwnKey = Parameters<typeof ownTokens>[0]['keys'][number]

const random = randomBytes(32)
const hs = (secret: string | Uint8Array): OwnKey => ({ kid: '1', algorithm: 'HS256', secret })

t.test('rejects short, published and non-random secrets in one line, and accepts random ones', async (t) => {
  for (const [secret, says] of [
    ['short', /options\.keys: the secret of the key 1 has 5 bytes and needs at least 32\. Create a secret with: openssl rand/],
    [undefined as unknown as string, /options\.keys: the secret of the key 1 must be a string or bytes/],
    ['a-string-secret-at-least-256-bits-long', /is published as an example/],
    ['development only: a very long secret!', /consists of words/]
  ] as const)
    t.throws(() => ownTokens({ issuer, audience, keys: [hs(secret)] }), { name: 'TypeError', message: says }, secret)
  for (const secret of [random, random.toString('base64')]) t.doesNotThrow(() => ownTokens({ issuer, audience, keys: [hs(secret)] }))
})

t.test('rejects keys that do not fit their algorithm in one line', async (t) => {
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' })
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const small = generateKeyPairSync('rsa', { modulusLength: 1024 })
  const ed = generateKeyPairSync('ed25519')
  for (const [keys, says] of [
    [[], /options\.keys must be a non-empty array/],
    [undefined, /options\.keys must be a non-empty array/],
    [[{ kid: '', algorithm: 'HS256', secret: random }], /options\.keys: kid "" is invalid or repeated/],
    [[{ kid: '../key', algorithm: 'HS256', secret: random }], /options\.keys: kid "..\/key" is invalid or repeated/],
    [[hs(random), hs(random)], /options\.keys: kid "1" is invalid or repeated\. Use a unique kid/],
    [[{ kid: '1', algorithm: 'none' }], /options\.keys: the key 1 has the unsupported algorithm "none"\. Use/],
    [[{ kid: '1', algorithm: 'toString' }], /options\.keys: the key 1 has the unsupported algorithm "toString"/],
    [[{ kid: '1', algorithm: 'ES256' }], /options\.keys: the key 1 cannot be read/],
    [[{ kid: '1', algorithm: 'ES256', privateKey: 'nonsense' }], /key 1 cannot be read/],
    [[{ kid: '1', algorithm: 'ES256', privateKey: ec.publicKey }], /key 1 cannot be read/],
    [[{ kid: '1', algorithm: 'ES256', privateKey: rsa.privateKey }], /the key 1 cannot be used with ES256\. Use a key on the curve P-256/],
    [[{ kid: '1', algorithm: 'ES256', privateKey: p384.privateKey }], /the key 1 cannot be used with ES256/],
    [
      [{ kid: '1', algorithm: 'RS256', privateKey: small.privateKey }],
      /the key 1 cannot be used with RS256\. Use an RSA key of at least 2048 bits/
    ],
    [[{ kid: '1', algorithm: 'EdDSA', privateKey: ec.privateKey }], /the key 1 cannot be used with EdDSA/],
    [
      [{ kid: '1', algorithm: 'EdDSA', privateKey: ed.privateKey, publicKey: generateKeyPairSync('ed25519').publicKey }],
      /the publicKey of the key 1 does not match its privateKey/
    ]
  ] as [OwnKey[], RegExp][]) {
    t.throws(() => ownTokens({ issuer, audience, keys }), { name: 'TypeError', message: says })
  }
  const pem = {
    privateKey: ec.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKey: ec.publicKey.export({ type: 'spki', format: 'pem' }).toString()
  }
  t.doesNotThrow(() => ownTokens({ issuer, audience, keys: [{ kid: '1', algorithm: 'ES256', ...pem }] }))
})

t.test('rejects an issuer without name or audience, or with invalid times, in one line', async (t) => {
  const right = { issuer, audience, keys: [hs(random)] }
  for (const [change, says] of [
    [{ issuer: undefined }, /options\.issuer must be the "iss" of the tokens: a string without spaces/],
    [{ issuer: '' }, /options\.issuer must be the "iss" of the tokens: a string without spaces/],
    [{ issuer: 'a b' }, /options\.issuer must be the "iss" of the tokens: a string without spaces/],
    [{ audience: undefined }, /options\.audience of the issuer https:\/\/tokens\.example\.com is missing or empty/],
    [{ audience: [] }, /options\.audience of the issuer https:\/\/tokens\.example\.com is missing or empty/],
    [{ audience: ['a', ''] }, /options\.audience of the issuer https:\/\/tokens\.example\.com is missing or empty/],
    [{ maxLifetimeSeconds: 86_401 }, /options\.maxLifetimeSeconds must be an integer from 1 to 86400, but is 86401/],
    [{ maxLifetimeSeconds: 0 }, /options\.maxLifetimeSeconds must be an integer from 1 to 86400, but is 0/],
    [{ maxLifetimeSeconds: Number.NaN }, /options\.maxLifetimeSeconds must be an integer from 1 to 86400, but is NaN/]
  ] as [object, RegExp][]) {
    t.throws(() => ownTokens({ ...right, ...change }), { name: 'TypeError', message: says })
  }
})

t.test('requires https and asymmetric algorithms for an outside issuer', async (t) => {
  const right: OutsideIssuerOptions = { issuer, audience, jwksUrl: 'https://a.example/keys', algorithms: ['ES256'] }
  for (const [change, says] of [
    [{ jwksUrl: 'http://a.example/keys' }, /options\.jwksUrl of the issuer https:\/\/tokens\.example\.com must be an https URL/],
    [{ jwksUrl: 'file:///keys' }, /jwksUrl/],
    [{ jwksUrl: 'keys' }, /jwksUrl/],
    [{ jwksUrl: 'http://localhost.example/keys' }, /Only localhost may use http/],
    [{ jwksUrl: 'http://a:b@localhost/keys' }, /without credentials/],
    [{ jwksUrl: undefined, issuer: 'http://a.example' }, /options\.issuer http:\/\/a\.example without jwksUrl must be an https URL/],
    [{ jwksUrl: undefined, issuer: 'orders' }, /options\.issuer orders without jwksUrl must be an https URL/],
    [{ jwksUrl: 'https://a:b@a.example/keys' }, /without credentials/],
    [{ algorithms: [] }, /options\.algorithms of the issuer https:\/\/tokens\.example\.com must be a non-empty array of RS256/],
    [{ algorithms: ['HS256'] }, /options\.algorithms of the issuer https:\/\/tokens\.example\.com must be a non-empty array of RS256/],
    [
      { algorithms: ['ES256', 'none'] },
      /options\.algorithms of the issuer https:\/\/tokens\.example\.com must be a non-empty array of RS256/
    ]
  ] as [Partial<OutsideIssuerOptions>, RegExp][]) {
    t.throws(() => outsideIssuer({ ...right, ...change }), { name: 'TypeError', message: says })
  }
})

t.test('stops the boot with one line for invalid options', async (t) => {
  const { issuer: own } = ownIssuer()
  const right: AuthenticationOptions = { issuers: [own], permissions }
  const store = memoryApiKeyStore()
  for (const [change, says] of [
    [{ issuers: [] }, /options\.issuers must be a non-empty array\. Add ownTokens/],
    [{ issuers: undefined }, /options\.issuers must be a non-empty array/],
    [
      { issuers: [{ issuer, audience, keys: [hs(random)] }] },
      /options\.issuers\[0\] must be a result of ownTokens\(\), outsideIssuer\(\) or/
    ],
    [{ issuers: [own, own] }, /options\.issuers contains "https:\/\/tokens\.example\.com", which is repeated/],
    [
      { issuers: [ownTokens({ issuer: 'api-key', audience, keys: [hs(random)] })] },
      /contains "api-key", which is repeated or reserved for API keys/
    ],
    [{ permissions: [] }, /options\.permissions must be a non-empty array/],
    [{ permissions: undefined }, /options\.permissions must be a non-empty array/],
    [{ permissions: ['orders'] }, /options\.permissions contains the invalid name "orders"\. Use the form resource:action/],
    [{ permissions: [`orders:${'a'.repeat(122)}`] }, /such as "orders:read", of at most 128 characters\.$/],
    [{ permissions: ['orders:*'] }, /options\.permissions contains the invalid name "orders:\*"/],
    [
      { policies: { customers: { allows: () => true } } },
      /options\.policies contains "customers", which is not the resource of any permission/
    ],
    [{ maxStalenessSeconds: 0 }, /options\.maxStalenessSeconds must be a number from 1 to 3600, but is 0/],
    [{ maxTokenLength: 10 }, /options\.maxTokenLength must be an integer from 256 to 16384, but is 10/],
    [{ apiKeys: { store, permissions: ['orders:reed'] } }, /options\.apiKeys\.permissions names the permission "orders:reed"/],
    [{ apiKeys: { store, permissions: [], header: 'X-Key' } }, /options\.apiKeys\.header must be .*but is "X-Key"/],
    [{ apiKeys: { store, permissions: [], header: 'cookie' } }, /options\.apiKeys\.header must be .*but is "cookie"/],
    [{ apiKeys: { store: {}, permissions: [] } }, /options\.apiKeys\.store must implement ApiKeyStore, for example memoryApiKeyStore/],
    [{ revocations: {} }, /options\.revocations must implement Revocations, for example revocationFeed/],
    [{ cookie: { name: 'token', origins: [] } }, /options\.cookie\.name must begin with "__Host-", but is "token"/],
    [
      { cookie: { name: '__Host-token', origins: ['app.example.com'] } },
      /options\.cookie\.origins contains the invalid origin "app\.example\.com"/
    ],
    [{ cookie: { name: '__Host-token', origins: ['https://app.example.com/'] } }, /options\.cookie\.origins contains the invalid origin/]
  ] as [Partial<AuthenticationOptions>, RegExp][]) {
    const app = Fastify()
    await t.rejects(async () => app.register(authentication, { ...right, ...change } as AuthenticationOptions), {
      name: 'TypeError',
      message: says
    })
  }
})

function loadTestKit(NODE_ENV: string) {
  const script = "await import('@concordat/authentication/testing')"
  const env = { NODE_ENV }
  return promisify(execFile)(process.execPath, ['--conditions=@concordat/source', '--input-type=module', '-e', script], {
    cwd: import.meta.dirname,
    env
  })
}

t.test('throws when the test kit is loaded in production', async (t) => {
  await t.rejects(loadTestKit('production'), /It does not load with NODE_ENV=production/)
  await t.resolves(loadTestKit('test'))
})

t.test('ownTokens requires @fastify/jwt, and the plugin works without it', async (t) => {
  hidePackage(t, '@fastify/jwt')
  const keys = [{ kid: 'a', algorithm: 'HS256', secret: randomBytes(32) }] as const
  t.throws(() => ownTokens({ issuer, audience, keys }), {
    message:
      'authentication: ownTokens() requires @fastify/jwt 10.2 or a later 10, but it is not installed. Run: npm install @fastify/jwt@10'
  })
  const app = Fastify()
  await app.register(authentication, {
    issuers: [outsideIssuer({ issuer, audience, jwksUrl: `${issuer}/keys`, grantsOf: () => [] })],
    permissions
  })
  await app.close()
})
