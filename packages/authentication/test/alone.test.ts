import { execFile } from 'node:child_process'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import authentication, {
  type AuthenticationOptions,
  authenticationErrors,
  memoryApiKeyStore,
  type OutsideIssuerOptions,
  type OwnKey,
  outsideIssuer,
  ownTokens
} from '@concordat/authentication'
import Fastify from 'fastify'
import t from 'tap'
import { audience, issuer, ownIssuer, permissions, service } from './service.ts'

t.test('stock Fastify prints each refusal with its code and challenge', async (t) => {
  const { app, kit } = await service()
  const nobody = await app.inject('/orders')
  t.strictSame(nobody.json(), {
    statusCode: 401,
    code: 'AUTHENTICATION_REQUIRED',
    error: 'Unauthorized',
    message: 'Authentication is required. Send an access token in the Authorization header: "Authorization: Bearer <token>".'
  })
  const wrong = await app.inject({ url: '/orders', headers: { authorization: 'Bearer x' } })
  t.match(wrong.json(), { statusCode: 401, code: 'INVALID_TOKEN', message: 'The access token is invalid. Request a new one.' })
  const weak = await app.inject({ url: '/orders', headers: kit.headers() })
  t.match(weak.json(), {
    statusCode: 403,
    code: 'INSUFFICIENT_PERMISSION',
    message: 'You are not permitted to do this. It takes: orders:read.'
  })
})

t.test('every error has its text in English and Spanish', async (t) => {
  for (const [code, { message }] of Object.entries(authenticationErrors.definitions)) {
    t.strictSame(Object.keys(message), ['en', 'es'], code)
    t.not(message['es'], message.en)
  }
})

const random = randomBytes(32)
const hs = (secret: string | Uint8Array): OwnKey => ({ kid: '1', algorithm: 'HS256', secret })

t.test('a secret that is short or made by a person is refused in one line, a random one is taken', async (t) => {
  for (const [secret, says] of [
    ['', /the secret of the key 1 has 0 bytes and needs at least 32\. Make one with: openssl rand/],
    [undefined as unknown as string, /0 bytes/],
    ['short', /5 bytes/],
    [randomBytes(31), /31 bytes/],
    ['a'.repeat(64), /repeats itself/],
    ['0123456789'.repeat(4), /repeats itself/],
    [Buffer.concat([random.subarray(0, 16), random.subarray(0, 16), random.subarray(0, 16)]), /repeats itself/],
    [Buffer.from(Array.from({ length: 64 }, (_, index) => index)), /repeats itself/],
    ['secret'.repeat(8), /repeats itself/],
    ['my-super-secret-key-that-nobody-will-ever-guess', /is made of words/],
    ['Correct Horse Battery Staple Correct Again 2026!', /is made of words/],
    ['THIS_IS_THE_PRODUCTION_SECRET_OF_ORDERS', /is made of words/]
  ] as const) {
    t.throws(() => ownTokens({ issuer, audience, keys: [hs(secret)] }), { name: 'TypeError', message: says }, String(secret))
  }
  for (let time = 0; time < 200; time += 1) {
    const bytes = randomBytes(32)
    for (const secret of [bytes, bytes.toString('hex'), bytes.toString('base64'), bytes.toString('base64url')]) {
      t.doesNotThrow(() => ownTokens({ issuer, audience, keys: [hs(secret)] }), bytes.toString('hex'))
    }
  }
})

t.test('keys that are not what their algorithm needs are refused in one line', async (t) => {
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' })
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const small = generateKeyPairSync('rsa', { modulusLength: 1024 })
  const ed = generateKeyPairSync('ed25519')
  for (const [keys, says] of [
    [[], /no keys/],
    [undefined, /no keys/],
    [[{ kid: '', algorithm: 'HS256', secret: random }], /"" is no kid/],
    [[{ kid: '../key', algorithm: 'HS256', secret: random }], /"..\/key" is no kid/],
    [[hs(random), hs(random)], /"1" is no kid\. Give each key one of its own/],
    [[{ kid: '1', algorithm: 'none' }], /algorithm "none"\. Choose/],
    [[{ kid: '1', algorithm: 'toString' }], /algorithm "toString"/],
    [[{ kid: '1', algorithm: 'ES256' }], /the key 1 can't be read/],
    [[{ kid: '1', algorithm: 'ES256', privateKey: 'nonsense' }], /can't be read/],
    [[{ kid: '1', algorithm: 'ES256', privateKey: ec.publicKey }], /can't be read/],
    [[{ kid: '1', algorithm: 'ES256', privateKey: rsa.privateKey }], /not made for ES256\. Give a key on the curve P-256/],
    [[{ kid: '1', algorithm: 'ES256', privateKey: p384.privateKey }], /not made for ES256/],
    [[{ kid: '1', algorithm: 'RS256', privateKey: small.privateKey }], /not made for RS256\. Give an RSA key of at least 2048 bits/],
    [[{ kid: '1', algorithm: 'EdDSA', privateKey: ec.privateKey }], /not made for EdDSA/],
    [[{ kid: '1', algorithm: 'EdDSA', privateKey: ed.privateKey, publicKey: generateKeyPairSync('ed25519').publicKey }], /no pair/]
  ] as [OwnKey[], RegExp][]) {
    t.throws(() => ownTokens({ issuer, audience, keys }), { name: 'TypeError', message: says })
  }
  const pem = {
    privateKey: ec.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKey: ec.publicKey.export({ type: 'spki', format: 'pem' }).toString()
  }
  t.doesNotThrow(() => ownTokens({ issuer, audience, keys: [{ kid: '1', algorithm: 'ES256', ...pem }] }))
})

t.test('an issuer without name, audience or sensible times is refused in one line', async (t) => {
  const right = { issuer, audience, keys: [hs(random)] }
  for (const [change, says] of [
    [{ issuer: undefined }, /an issuer has no name/],
    [{ issuer: '' }, /no name/],
    [{ issuer: 'a b' }, /no name/],
    [{ audience: undefined }, /the issuer https:\/\/tokens\.example\.com has no audience/],
    [{ audience: [] }, /no audience/],
    [{ audience: ['a', ''] }, /no audience/],
    [{ maxLifetimeSeconds: 86_401 }, /maxLifetimeSeconds is 86401/],
    [{ maxLifetimeSeconds: 0 }, /maxLifetimeSeconds is 0/],
    [{ maxLifetimeSeconds: Number.NaN }, /maxLifetimeSeconds is NaN/],
    [{ clockToleranceSeconds: -1 }, /clockToleranceSeconds is -1/],
    [{ clockToleranceSeconds: 61 }, /clockToleranceSeconds is 61/]
  ] as [object, RegExp][]) {
    t.throws(() => ownTokens({ ...right, ...change }), { name: 'TypeError', message: says })
  }
})

t.test('an outside issuer needs https and algorithms of its own that are no shared secrets', async (t) => {
  const right: OutsideIssuerOptions = { issuer, audience, jwksUrl: 'https://a.example/keys', algorithms: ['ES256'] }
  for (const [change, says] of [
    [{ jwksUrl: 'http://a.example/keys' }, /no usable jwksUrl\. Give an https URL/],
    [{ jwksUrl: 'file:///keys' }, /jwksUrl/],
    [{ jwksUrl: 'keys' }, /jwksUrl/],
    [{ jwksUrl: undefined }, /jwksUrl/],
    [{ jwksUrl: 'https://a:b@a.example/keys' }, /without credentials/],
    [{ algorithms: [] }, /no usable algorithms\. List some of RS256/],
    [{ algorithms: undefined }, /no usable algorithms/],
    [{ algorithms: ['HS256'] }, /no usable algorithms/],
    [{ algorithms: ['ES256', 'none'] }, /no usable algorithms/]
  ] as [Partial<OutsideIssuerOptions>, RegExp][]) {
    t.throws(() => outsideIssuer({ ...right, ...change }), { name: 'TypeError', message: says })
  }
})

t.test('options that make no sense stop the boot with one clear line', async (t) => {
  const { issuer: own } = ownIssuer()
  const right: AuthenticationOptions = { issuers: [own], permissions }
  const store = memoryApiKeyStore()
  for (const [change, says] of [
    [{ issuers: [] }, /nobody is trusted\. Give issuers/],
    [{ issuers: undefined }, /nobody is trusted/],
    [{ issuers: [own, own] }, /the issuer "https:\/\/tokens\.example\.com" was sent more than once/],
    [{ issuers: [{ issuer: 'api-key', audience, keys: [hs(random)] }] }, /name for API keys/],
    [{ permissions: [] }, /there are no permissions/],
    [{ permissions: undefined }, /there are no permissions/],
    [{ permissions: ['orders'] }, /permissions has "orders"\. Write resource:action/],
    [{ permissions: ['orders:*'] }, /permissions has "orders:\*"/],
    [{ policies: { customers: { allows: () => true } } }, /policies has "customers", which no permission names/],
    [{ maxStalenessSeconds: 0 }, /maxStalenessSeconds is 0/],
    [{ maxTokenLength: 10 }, /maxTokenLength is 10\. Give a number from 256 to 16384/],
    [{ cacheEntries: -1 }, /cacheEntries is -1/],
    [{ cacheSeconds: '60' }, /cacheSeconds is 60/],
    [{ apiKeys: { store, permissions: ['orders:reed'] } }, /apiKeys\.permissions names the permission "orders:reed"/],
    [{ apiKeys: { store, permissions: [], header: 'X-Key' } }, /apiKeys\.header is "X-Key"/],
    [{ apiKeys: { store, permissions: [], header: 'cookie' } }, /apiKeys\.header is "cookie"/],
    [{ apiKeys: { store, permissions: [], cacheSeconds: -1 } }, /apiKeys\.cacheSeconds is -1/],
    [{ cookie: { name: 'token', origins: [] } }, /cookie\.name is "token"\. Let it begin with "__Host-"/],
    [{ cookie: { name: '__Host-token', origins: ['app.example.com'] } }, /cookie\.origins has "app\.example\.com"/],
    [{ cookie: { name: '__Host-token', origins: ['https://app.example.com/'] } }, /cookie\.origins has/]
  ] as [Partial<AuthenticationOptions>, RegExp][]) {
    const app = Fastify()
    await t.rejects(async () => app.register(authentication, { ...right, ...change } as AuthenticationOptions), {
      name: 'TypeError',
      message: says
    })
  }
})

function loadTestKit(NODE_ENV: string) {
  const script = "await import('@concordat/authentication/test-kit')"
  const env = { NODE_ENV }
  return promisify(execFile)(process.execPath, ['--conditions=@concordat/source', '--input-type=module', '-e', script], {
    cwd: import.meta.dirname,
    env
  })
}

t.test('the test kit does not load in production', async (t) => {
  await t.rejects(loadTestKit('production'), /It does not load with NODE_ENV=production/)
  await t.resolves(loadTestKit('test'))
})
