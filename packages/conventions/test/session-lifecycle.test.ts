import authentication, { memoryRevocationStore, ownTokens, revocationFeed } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import { memoryLoginAttemptStore, memoryRefreshTokenStore, passwords, type TokenResponse, tokenIssuer } from '@concordat/token-issuing'
import Fastify from 'fastify'
import t from 'tap'

const trust = { issuer: 'https://tokens.example.com', audience: 'orders' }
const permissions = ['orders:read', 'orders:create', 'orders:update', 'products:read', 'products:delete']
const password = 'correct horse battery staple'
const user = { id: 'ada', passwordHash: await passwords().hash(password), roles: ['customer'], permissions: ['products:read'] }
const tokens = ownTokens({ ...trust, keys: testKit(trust).keys })
const stores = { refresh: memoryRefreshTokenStore(), revocation: memoryRevocationStore() }

/** Creates one of several instances that share their stores: it issues and accepts tokens, and learns what the others revoke. */
async function instance() {
  const revocations = revocationFeed({ store: stores.revocation })
  await revocations.start()
  const issuer = tokenIssuer({
    sign: tokens.sign,
    findUser: (name) => (name === 'ada@example.com' ? user : undefined),
    findUserById: (id) => (id === user.id ? user : undefined),
    refreshKeys: ['Jq3vZ8mB1xT6yW0rLd5uKc9nHs2gPf7aEo4iXt-RbYk'],
    stores: { refreshTokens: stores.refresh, loginAttempts: memoryLoginAttemptStore() },
    revocations
  })
  const app = Fastify()
  await app.register(authentication, { issuers: [tokens], permissions, roles: { customer: ['orders:*'] }, revocations })
  app.post<{ Body: { username: string; password: string } | { refreshToken: string } }>(
    '/tokens',
    { config: { public: true } },
    ({ body, ip }) => issuer.issue(body, { address: ip })
  )
  app.post<{ Body: { token: string } }>('/token-revocations', { config: { public: true } }, async ({ body }) => {
    if (!(await issuer.revokeRefreshToken(body.token))) await issuer.revokeAccessToken(await tokens.verify(body.token))
    return 'revoked'
  })
  app.get('/orders', { config: { permissions: ['orders:read', 'products:read'] } }, async ({ principal }) => principal)
  app.addHook('onClose', () => revocations.close())
  return app
}

t.test('supports a session from sign-in to sign-out on two instances [U1] [U3] [U4]', async (t) => {
  const [one, two] = [await instance(), await instance()]
  t.teardown(() => Promise.all([one.close(), two.close()]))
  const post = async (app: typeof one, url: string, payload: object) =>
    (await app.inject({ method: 'POST', url, payload })).json<TokenResponse>()
  const read = (app: typeof one, { accessToken }: TokenResponse) =>
    app.inject({ url: '/orders', headers: { authorization: `Bearer ${accessToken}` } })

  const first = await post(one, '/tokens', { username: 'ada@example.com', password })
  t.match((await read(two, first)).json(), {
    subject: 'ada',
    roles: ['customer'],
    permissions: ['orders:create', 'orders:read', 'orders:update', 'products:read']
  })
  const second = await post(two, '/tokens', { refreshToken: first.refreshToken })
  t.equal((await read(one, second)).statusCode, 200)
  t.equal(second.expiresIn, tokens.maxLifetimeSeconds)

  await two.inject({ method: 'POST', url: '/token-revocations', payload: { token: second.accessToken } })
  for (const app of [two, one]) {
    for (const token of [first, second]) t.match((await read(app, token)).json(), { statusCode: 401, code: 'TOKEN_REVOKED' })
  }
  t.match(await post(one, '/tokens', { refreshToken: second.refreshToken }), { statusCode: 401 })
  const third = await post(one, '/tokens', { username: 'ada@example.com', password })
  t.equal((await read(two, third)).statusCode, 200)
  t.equal(
    (await read(two, { ...third, accessToken: third.refreshToken })).json().code,
    'INVALID_TOKEN',
    'a refresh token is not an access token'
  )
})
