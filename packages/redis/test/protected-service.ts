// A process of the tests: node protected-service.ts <address of Redis> <prefix> <client>. It signs users in, revokes, and protects one route.
import authentication, { ownTokens, passwords, revocationFeed, tokenIssuer } from '@concordat/authentication'
import { redisLoginAttempts } from '@concordat/redis/login-attempts'
import { redisRefreshTokens } from '@concordat/redis/refresh-tokens'
import { redisRevocations } from '@concordat/redis/revocations'
import Fastify from 'fastify'
import { connected } from './connected.ts'

const [url = '', prefix = '', client = ''] = process.argv.slice(2)
const redis = await connected(url, client)
const secret = 'qwJ8-3mVt0ZrXk5LyUo2Nb7eHdGf9sCaPi4TgWxM1u6RvB'
const tokens = ownTokens({ issuer: 'https://api.example.com', audience: 'orders', keys: [{ kid: '1', algorithm: 'HS256', secret }] })
const revocations = revocationFeed({ store: redisRevocations(redis, { prefix }) })
await revocations.start()
const ada = { id: 'ada', permissions: ['orders:read'], passwordHash: await passwords().hash('correct horse battery staple') }
const issuer = tokenIssuer({
  sign: tokens.sign,
  findUser: (name) => (name === 'ada' ? ada : undefined),
  findUserById: () => ada,
  refreshKeys: [secret],
  refreshTokens: redisRefreshTokens(redis, { prefix }),
  attemptStore: redisLoginAttempts(redis, { prefix }),
  revocations
})

const app = Fastify()
await app.register(authentication, { issuers: [tokens], permissions: ['orders:read'], revocations })
app.get('/orders', { config: { permissions: ['orders:read'] } }, async () => [])
app.post('/tokens', { config: { public: true } }, async ({ body, ip }) => issuer.issue(body as never, { address: ip }))
app.delete('/everything', { config: { public: true } }, () => issuer.revokeEverything())
app.delete<{ Params: { id: string } }>('/subjects/:id', { config: { public: true } }, ({ params }) => issuer.revokeSubject(params.id))
app.delete<{ Params: { id: string } }>('/sessions/:id', { config: { public: true } }, ({ params }) => issuer.revokeSession(params.id))
app.delete<{ Params: { id: string }; Querystring: { exp: string } }>('/jtis/:id', { config: { public: true } }, ({ params, query }) =>
  issuer.revokeAccessToken({ jti: params.id, exp: Number(query.exp) })
)

const address = await app.listen({ host: '127.0.0.1', port: 0 })
process.on('disconnect', () => process.exit())
process.send?.(address)
