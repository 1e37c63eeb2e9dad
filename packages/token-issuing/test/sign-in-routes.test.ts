import signInRoutes, { type SignInRoutesOptions } from '@concordat/token-issuing'
import Fastify, { type FastifyContextConfig, type InjectOptions } from 'fastify'
import t from 'tap'
import { issuing, password } from './issuing.ts'

/** Creates a service with the routes below /v1, whose access tokens are the texts "access 1", "access 2" and so on. */
async function service(input: Partial<SignInRoutesOptions> = {}) {
  const parts = issuing()
  const app = Fastify()
  const configs: FastifyContextConfig[] = []
  app.addHook('onRoute', ({ config = {}, method }) => void (method === 'POST' && configs.push(config)))
  const verify = async (token: string) => {
    const claims = parts.signed[Number(token.replace('access ', '')) - 1]
    if (claims === undefined) throw new Error('The token is invalid.')
    return claims
  }
  await app.register(signInRoutes, { prefix: '/v1', issuer: parts.issuer, verify, ...input })
  const post = (path: string, payload: object, options: InjectOptions = {}) =>
    app.inject({ ...options, method: 'POST', url: `/v1${path}`, payload })
  const signIn = async () => (await post('/tokens', { username: 'ada@example.com', password })).json()
  return { ...parts, app, configs, post, signIn }
}

t.test('returns a token response that no cache stores, for a password and for a refresh token [E6]', async (t) => {
  const { post } = await service()
  const first = await post('/tokens', { username: 'ada@example.com', password })
  t.equal(first.statusCode, 200)
  t.equal(first.headers['cache-control'], 'no-store')
  t.match(first.json(), { accessToken: 'access 1', tokenType: 'Bearer', expiresIn: 900, refreshToken: /^rt_/ })
  const second = await post('/tokens', { refreshToken: first.json().refreshToken })
  t.match(second.json(), { accessToken: 'access 2' })
  t.match((await post('/tokens', { username: 'ada@example.com', password: 'incorrect horse' })).json(), { code: 'INVALID_CREDENTIALS' })
  t.match((await post('/tokens', { username: 'ada@example.com' })).json(), { statusCode: 422, code: 'INVALID_TOKEN_REQUEST' })
  t.equal((await post('/tokens', { username: 'x'.repeat(255), password })).statusCode, 400)
})

t.test('ends the session of either token, and responds to any other text in the same way [U4]', async (t) => {
  const { post, signIn, refresh } = await service()
  for (const member of ['accessToken', 'refreshToken']) {
    const session = await signIn()
    const revoked = await post('/token-revocations', { token: session[member] })
    t.match(revoked.json(), { revokedAt: /^\d{4}-\d\d-\d\dT.*Z$/ })
    t.match([revoked.statusCode, revoked.headers['cache-control'], revoked.headers.location], [201, 'no-store', undefined])
    await t.rejects(refresh(session.refreshToken), { code: 'REFRESH_TOKEN_REVOKED' })
  }
  t.equal((await post('/token-revocations', { token: 'nothing that was ever issued' })).statusCode, 201)
  t.equal((await post('/token-revocations', {})).statusCode, 400)
})

t.test('counts failed attempts by the address of the client [X5]', async (t) => {
  const { issuer } = issuing({ attempts: { perAddress: { limit: 1, windowSeconds: 60 } } })
  const { post } = await service({ issuer })
  const guess = async (username: string, remoteAddress: string) =>
    (await post('/tokens', { username, password: 'incorrect horse' }, { remoteAddress })).statusCode
  t.strictSame([await guess('a', '192.0.2.1'), await guess('b', '192.0.2.1'), await guess('b', '192.0.2.2')], [401, 429, 401])
})

t.test('declares both routes as public with their error codes, and adds the config of options', async (t) => {
  const { configs, post } = await service({
    routeConfig: (operation) => ({ audit: operation })
  })
  t.match(configs, [
    { public: 'ignoring-credentials', audit: 'issueToken', openapi: { errors: ['INVALID_CREDENTIALS', 'REFRESH_TOKEN_INVALID'] } },
    { public: 'ignoring-credentials', audit: 'revokeToken' }
  ])
  const { statusCode, headers } = await post('/token-revocations', { token: 'x' })
  t.strictSame([statusCode, headers.location], [201, undefined], 'nothing can be read later')
})

async function rejectToken(): Promise<never> {
  throw new Error('The token is invalid.')
}

t.test('stops the boot with one line without verify or issuer', async (t) => {
  const { issuer } = issuing()
  await t.rejects(async () => Fastify().register(signInRoutes, { issuer } as SignInRoutesOptions), {
    name: 'TypeError',
    message: 'token-issuing: options.verify must be a function that returns the claims of an access token, but its type is undefined.'
  })
  await t.rejects(async () => Fastify().register(signInRoutes, { verify: rejectToken } as unknown as SignInRoutesOptions), {
    name: 'TypeError',
    message: 'token-issuing: options.issuer must implement TokenIssuer: the result of tokenIssuer().'
  })
})
