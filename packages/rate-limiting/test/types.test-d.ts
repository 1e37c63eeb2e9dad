import rateLimiting, {
  credentialLimit,
  memoryRateLimitStore,
  type RateLimitingOptions,
  type RateLimitStore
} from '@concordat/rate-limiting'
import { expectTypeOf } from 'expect-type'
import Fastify, { type FastifyContextConfig, type FastifyRequest } from 'fastify'

const app = Fastify()
app.register(rateLimiting)
app.register(rateLimiting, { addressLimit: false, client: (request) => ({ key: request.id, tier: 'gold' }), tiers: {} })
// @ts-expect-error windowSeconds is required
app.register(rateLimiting, { addressLimit: { limit: 5 } })
// @ts-expect-error client returns an object with a key
app.register(rateLimiting, { client: () => 5 })
// @ts-expect-error the value is unknown
app.register(rateLimiting, { whenStoreFails: 'allow' })
// @ts-expect-error a threshold is a number
app.register(rateLimiting, { overload: { maxInFlight: '100' } })

app.get('/a', { config: { rateLimit: false } }, () => 'a')
app.get('/b', { config: { rateLimit: { limit: 5, windowSeconds: 60, scope: 'client', group: 'b', cost: 2 } } }, () => 'b')
app.get('/c', { config: { rateLimit: { cost: 5 } } }, () => 'c')
app.get('/d', { config: { rateLimit: credentialLimit } }, () => 'd')
// @ts-expect-error these are options of @fastify/rate-limit
app.get('/e', { config: { rateLimit: { max: 5, timeWindow: 60_000 } } }, () => 'e')
// @ts-expect-error windowSeconds is missing
app.get('/f', { config: { rateLimit: { limit: 5 } } }, () => 'f')
// @ts-expect-error the scope is unknown
app.get('/g', { config: { rateLimit: { limit: 5, windowSeconds: 60, scope: 'user' } } }, () => 'g')

expectTypeOf<NonNullable<RateLimitingOptions['client']>>().parameter(0).toEqualTypeOf<FastifyRequest>()
expectTypeOf(credentialLimit).toExtend<FastifyContextConfig['rateLimit']>()
expectTypeOf(memoryRateLimitStore).returns.toEqualTypeOf<RateLimitStore>()
