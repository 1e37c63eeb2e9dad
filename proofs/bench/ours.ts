// The preset with everything that a service of this size uses, in memory. `without` leaves out one plugin, `metrics` adds telemetry.
import { randomUUID } from 'node:crypto'
import { memoryRevocationStore, ownTokens, revocationFeed } from '@concordat/authentication'
import conventions, { type ConventionsOptions, serverOptions } from '@concordat/conventions'
import { memoryIdempotencyStore } from '@concordat/idempotency'
import signInRoutes, {
  memoryLoginAttemptStore,
  memoryRefreshTokenStore,
  passwords,
  tokenIssuer,
  tokenIssuingErrors
} from '@concordat/token-issuing'
import Fastify, { type FastifyInstance } from 'fastify'
import {
  logStream,
  type NewOrder,
  newOrderSchema,
  orderSchema,
  password,
  productSchema,
  products,
  productsById,
  publicUrl,
  secret,
  tokens,
  username
} from './resources.ts'

const limit = { limit: 1_000_000_000, windowSeconds: 3600 }

export async function serve({ without = '', metrics = '', routes = '0', items = '50' }: Record<string, string> = {}) {
  // In production, only the start is measured, because the clients use plain HTTP.
  const inProduction = process.env['NODE_ENV'] === 'production'
  const app: FastifyInstance = Fastify({
    ...serverOptions(inProduction ? { trustProxy: ['loopback'] } : {}),
    logger: { level: 'info', stream: logStream() }
  })
  const { kid, issuer, audience } = tokens
  const accessTokens = ownTokens({ issuer, audience, keys: [{ kid, algorithm: 'HS256', secret }] })
  const revocations = revocationFeed({ store: memoryRevocationStore() })
  const user = { id: 'ada', passwordHash: await passwords().hash(password), permissions, roles: [] }
  const session = tokenIssuer({
    sign: accessTokens.sign,
    findUser: async (name) => (name === username ? user : undefined),
    findUserById: async () => user,
    refreshKeys: [secret],
    stores: { refreshTokens: memoryRefreshTokenStore(), loginAttempts: memoryLoginAttemptStore() },
    revocations
  })
  const options: ConventionsOptions = {
    publicUrl,
    versions: { 1: { status: 'current' } },
    transportSecurity: { dangerouslyAllowHttp: !inProduction && 'loopback' },
    authentication: { issuers: [accessTokens], revocations, permissions },
    rateLimiting: { addressLimit: limit, clientLimit: limit, overload: { maxEventLoopDelayMs: 60_000 } },
    idempotency: { store: memoryIdempotencyStore({ maxKeys: 10_000_000, maxBytes: 4e9 }), maxClientBytes: 4e9, dangerouslyUnshared: true },
    errorCatalogue: { include: [tokenIssuingErrors] },
    ...(metrics !== '' && { telemetry: { prometheus: true } }),
    ...(without !== '' && { [without]: false })
  }
  await app.register(conventions, options)
  const list = Array.from({ length: Number(items) }, (_, number) => ({ ...products[number % 50] }))

  await app.apiVersion(1, async (v1) => {
    await v1.register(signInRoutes, { issuer: session, verify: accessTokens.verify })
    v1.get<{ Params: { id: string } }>(
      '/products/:id',
      { config: { permissions: ['products:read'] }, schema: { response: { 200: productSchema } } },
      async ({ params }, reply) => productsById.get(params.id) ?? reply.callNotFound()
    )
    v1.get(
      '/products',
      {
        config: { permissions: ['products:read'], waivers: { Q10: 'The number of items is what is measured.' } },
        schema: { response: { 200: { type: 'array', items: productSchema } } }
      },
      async () => list
    )
    // Routes of plugins that may be left out.
    if (without === '') {
      v1.post<{ Body: NewOrder }>(
        '/orders',
        {
          config: { permissions: ['orders:create'], idempotency: 'required' },
          schema: { body: newOrderSchema, response: { 201: orderSchema } }
        },
        async ({ body }, reply) => {
          const id = randomUUID()
          return reply.created(`/orders/${id}`, { id, ...body })
        }
      )
      v1.batch('/product-batches', { paths: ['/products'], config: { permissions: ['products:read'], idempotency: 'off' } })
    }
    for (let number = 0; number < Number(routes); number += 1) {
      v1.get(
        `/shelf${number}-books/:id`,
        { config: { permissions: ['products:read'] }, schema: { response: { 200: productSchema } } },
        async () => products[0]
      )
    }
  })
  // After the work of the start, during which the feed would become stale.
  await app.ready()
  await revocations.start()
  return { app, headers: { authorization: `Bearer ${await accessTokens.sign({ sub: 'ada', scope: permissions.join(' ') })}` } }
}

const permissions = ['products:read', 'orders:create']
