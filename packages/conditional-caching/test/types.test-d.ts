// Compiled, never run: lines that must not compile are marked, and the compiler rejects a mark without an error.

import conditionalCaching, {
  type ConditionalCachingOptions,
  lints,
  type Preconditions,
  type ValidatorFunction
} from '@concordat/conditional-caching'
import type { ApiError } from '@concordat/plugin-kit/api-error'
import { expectTypeOf } from 'expect-type'
import Fastify, { type FastifyContextConfig, type FastifyRequest } from 'fastify'

const app = Fastify()
app.register(conditionalCaching)
app.register(conditionalCaching, { cache: { private: true, maxAgeSeconds: 60 }, ifMatch: 'opaque' })
// @ts-expect-error only four names are valid
app.register(conditionalCaching, { cache: 'immutable' })
// @ts-expect-error units are in the names
app.register(conditionalCaching, { cache: { maxAge: 60 } })

type OrderRequest = FastifyRequest<{ Params: { id: string } }>
const validator: ValidatorFunction = async ({ params }: OrderRequest) => ({ exists: params.id !== '', etag: 7, lastModified: new Date() })
app.get('/orders/:id', { config: { validator, cache: 'private' } }, async (_request, reply) => {
  expectTypeOf(reply.entityTag('7')).toEqualTypeOf(reply)
  return {}
})
app.patch('/orders/:id', { config: { validator, requireIfMatch: true } }, async ({ preconditions }) => {
  expectTypeOf(preconditions).toEqualTypeOf<Preconditions>()
  expectTypeOf(preconditions.versions()).toEqualTypeOf<readonly string[] | '*' | null>()
  expectTypeOf(preconditions.failed(8)).toEqualTypeOf<ApiError>()
  return {}
})
// @ts-expect-error exists is required
app.get('/', { config: { validator: () => ({ etag: '7' }) } }, async () => ({}))
// @ts-expect-error a version is not a date
app.get('/', { config: { validator: () => ({ exists: true, etag: new Date() }) } }, async () => ({}))

expectTypeOf<ConditionalCachingOptions['cache']>().toEqualTypeOf<FastifyContextConfig['cache']>()
expectTypeOf(lints[0]?.check).toBeNullable()
