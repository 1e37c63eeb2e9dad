import rateLimiting, { type RateLimitingOptions, rateLimitingErrors } from '@concordat/rate-limiting'
import { expectTypeOf } from 'expect-type'
import Fastify from 'fastify'

const app = Fastify()
app.register(rateLimiting, { maxPathLength: 512 })
// @ts-expect-error a length is a number
app.register(rateLimiting, { maxPathLength: '512' })
app.get('/', { config: { rateLimiting: false } }, () => 'here')

expectTypeOf<RateLimitingOptions['maxPathLength']>().toEqualTypeOf<number | undefined>()
expectTypeOf(rateLimitingErrors.definitions).toBeObject()
