import idempotency, { type IdempotencyOptions, idempotencyErrors } from '@concordat/idempotency'
import { expectTypeOf } from 'expect-type'
import Fastify from 'fastify'

const app = Fastify()
app.register(idempotency, { maxPathLength: 512 })
// @ts-expect-error a length is a number
app.register(idempotency, { maxPathLength: '512' })
app.get('/', { config: { idempotency: false } }, () => 'here')

expectTypeOf<IdempotencyOptions['maxPathLength']>().toEqualTypeOf<number | undefined>()
expectTypeOf(idempotencyErrors.definitions).toBeObject()
