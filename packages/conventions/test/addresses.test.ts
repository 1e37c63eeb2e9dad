// The address of a client in each form that proxies write, at every place where it is a key, a decision or a log value.

import { memoryRevocationStore, ownTokens, revocationFeed } from '@concordat/authentication'
import conventions, { type ConventionsOptions, serverOptions } from '@concordat/conventions'
import signInRoutes, { memoryLoginAttemptStore, memoryRefreshTokenStore, tokenIssuer, tokenIssuingErrors } from '@concordat/token-issuing'
import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'

// The port is another one for each connection of the client.
const forms: Readonly<Record<string, (port: number) => string>> = {
  IPv4: () => '203.0.113.7',
  'IPv4 with a port': (port) => `203.0.113.7:${port}`,
  'mapped IPv4': () => '::ffff:203.0.113.7',
  IPv6: () => '2001:db8:1:2::7',
  'IPv6 in brackets': () => '[2001:db8:1:2::7]',
  'IPv6 with a port': (port) => `[2001:db8:1:2::7]:${port}`,
  'no address': (port) => `_hidden${port}`
}
const secret = () => Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64')
const limit = (count: number) => ({ limit: count, windowSeconds: 900 })

async function service(t: Test, options: Partial<ConventionsOptions>, routes: (v1: FastifyInstance) => Promise<void>) {
  const lines: { readonly remoteAddress?: string }[] = []
  const app = Fastify({
    ...serverOptions({ trustProxy: ['127.0.0.1', '10.0.0.0/8'] }),
    logger: { level: 'info', stream: { write: (line: string) => void lines.push(JSON.parse(line)) } }
  })
  t.teardown(() => app.close())
  await app.register(conventions, { publicUrl: 'https://api.example.com', versions: { 1: {} }, authentication: false, ...options })
  await app.apiVersion(1, routes)
  const send = (forwarded: string, more: object = {}) =>
    app.inject({
      url: '/v1/things',
      ...more,
      headers: { host: 'api.example.com', 'x-forwarded-proto': 'https', 'x-forwarded-for': forwarded }
    })
  return { send, lines }
}

async function things(v1: FastifyInstance) {
  v1.get('/things', { schema: { response: { 200: { type: 'object', properties: {} } } } }, async () => ({}))
}

for (const [name, addressOf] of Object.entries(forms)) {
  t.test(`${name}: the connections of a client share its limit, and the log has one network`, async (t) => {
    const { send, lines } = await service(t, { rateLimiting: { addressLimit: limit(3) } }, things)
    const statuses = []
    for (let port = 5000; port < 5005; port += 1) statuses.push((await send(addressOf(port))).statusCode)
    t.strictSame(statuses, [200, 200, 200, 429, 429])
    const expected = name === 'no address' ? undefined : name.includes('IPv6') ? '2001:db8:1::' : '203.0.113.0'
    t.strictSame(
      lines.filter((line) => 'statusCode' in line).map(({ remoteAddress }) => remoteAddress),
      Array.from({ length: 5 }, () => expected)
    )
  })

  t.test(`${name}: failed sign-ins of a client are counted together`, async (t) => {
    const tokens = ownTokens({
      issuer: 'https://api.example.com',
      audience: 'api',
      keys: [{ kid: 'a', algorithm: 'HS256', secret: secret() }]
    })
    const revocations = revocationFeed({ store: memoryRevocationStore() })
    const issuer = tokenIssuer({
      sign: tokens.sign,
      findUser: async () => undefined,
      findUserById: async () => undefined,
      refreshKeys: [secret()],
      stores: { refreshTokens: memoryRefreshTokenStore(), loginAttempts: memoryLoginAttemptStore() },
      revocations,
      attempts: { perAddress: limit(2) }
    })
    const { send } = await service(
      t,
      {
        authentication: { issuers: [tokens], revocations, permissions: ['things:read'] },
        errorCatalogue: { include: [tokenIssuingErrors] }
      },
      async (v1) => v1.register(signInRoutes, { issuer, verify: tokens.verify })
    )
    const codes = []
    for (let port = 5000; port < 5004; port += 1) {
      const payload = { username: `user${port}`, password: 'wrong horse battery' }
      codes.push((await send(addressOf(port), { method: 'POST', url: '/v1/tokens', payload })).json().error.code)
    }
    t.strictSame(codes, ['INVALID_CREDENTIALS', 'INVALID_CREDENTIALS', 'LOGIN_ATTEMPTS_EXCEEDED', 'LOGIN_ATTEMPTS_EXCEEDED'])
  })
}

t.test('a trusted proxy that is listed with its port is trusted, and another one is not', async (t) => {
  const { send, lines } = await service(t, {}, things)
  for (const chain of ['203.0.113.7:5000, 10.0.0.5:443', '198.51.100.9, 203.0.113.7:1, [::ffff:10.0.0.5]:443', '10.0.0.5, 203.0.113.7:2'])
    await send(chain)
  t.strictSame(
    lines.filter((line) => 'statusCode' in line).map(({ remoteAddress }) => remoteAddress),
    ['203.0.113.0', '203.0.113.0', '203.0.113.0']
  )
})
