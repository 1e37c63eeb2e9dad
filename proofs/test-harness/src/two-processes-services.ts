// Services for processes of tests. Each package passes its stores.
import authentication, { ownTokens, type RevocationStore, revocationFeed } from '@concordat/authentication'
import rateLimiting, { type RateLimitStore } from '@concordat/rate-limiting'
import {
  type LoginAttemptStore,
  memoryLoginAttemptStore,
  memoryRefreshTokenStore,
  passwords,
  type RefreshTokenStore,
  tokenIssuer
} from '@concordat/token-issuing'
import Fastify, { type FastifyInstance } from 'fastify'
import { maxStalenessSeconds, requestsPerMinute } from './two-processes.ts'

const secret = 'qwJ8-3mVt0ZrXk5LyUo2Nb7eHdGf9sCaPi4TgWxM1u6RvB'

/** Stores that the service shares with other processes. Each process has the others for itself. */
export interface ProtectedStores {
  readonly revocations: RevocationStore
  readonly refreshTokens?: RefreshTokenStore
  readonly attempts?: LoginAttemptStore
}

/** Serves a protected route, sign-in and revocation until the parent process disconnects. */
export async function serveProtected({
  revocations: store,
  refreshTokens = memoryRefreshTokenStore(),
  attempts = memoryLoginAttemptStore()
}: ProtectedStores): Promise<void> {
  const tokens = ownTokens({ issuer: 'https://api.example.com', audience: 'orders', keys: [{ kid: '1', algorithm: 'HS256', secret }] })
  const revocations = revocationFeed({ store, pollSeconds: maxStalenessSeconds / 8, timeoutSeconds: maxStalenessSeconds / 4 })
  await revocations.start()
  const ada = { id: 'ada', permissions: ['orders:read'], passwordHash: await passwords().hash('correct horse battery staple') }
  const issuer = tokenIssuer({
    sign: tokens.sign,
    findUser: (name) => (name === 'ada' ? ada : undefined),
    findUserById: () => ada,
    refreshKeys: [secret],
    stores: { refreshTokens, loginAttempts: attempts },
    revocations
  })

  const app = Fastify()
  await app.register(authentication, { issuers: [tokens], permissions: ['orders:read'], revocations, maxStalenessSeconds })
  app.get('/orders', { config: { permissions: ['orders:read'] } }, async () => [])
  app.post('/tokens', { config: { public: true } }, async ({ body, ip }) => issuer.issue(body as never, { address: ip }))
  app.delete('/everything', { config: { public: true } }, () => issuer.revokeEverything())
  app.delete<{ Params: { id: string } }>('/subjects/:id', { config: { public: true } }, ({ params }) => issuer.revokeSubject(params.id))
  app.delete<{ Params: { id: string } }>('/sessions/:id', { config: { public: true } }, ({ params }) => issuer.revokeSession(params.id))
  app.delete<{ Params: { id: string }; Querystring: { exp: string } }>('/jtis/:id', { config: { public: true } }, ({ params, query }) =>
    issuer.revokeAccessToken({ jti: params.id, exp: Number(query.exp) })
  )
  await serve(app)
}

/** Serves a rate-limited route until the parent process disconnects. */
export async function serveCounted(store: RateLimitStore, whenStoreFails: string): Promise<void> {
  const app = Fastify()
  await app.register(rateLimiting, {
    addressLimit: { limit: requestsPerMinute, windowSeconds: 60 },
    store,
    storeTimeoutSeconds: 2,
    whenStoreFails: whenStoreFails as 'countLocally' | 'refuse'
  })
  app.get('/orders', async () => [])
  await serve(app)
}

async function serve(app: FastifyInstance) {
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  process.on('disconnect', () => process.exit())
  process.send?.(address)
}
