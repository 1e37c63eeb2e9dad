import batch from '@concordat/batch'
import { expectTypeOf } from 'expect-type'
import Fastify, { type FastifyInstance } from 'fastify'

const app = Fastify()
app.register(batch)
app.batch('/order-batches', { paths: ['/orders'], atomic: 'byRequest' })
// @ts-expect-error unknown value
app.batch('/order-batches', { paths: ['/orders'], atomic: 'sometimes' })
// @ts-expect-error paths is required
app.batch('/order-batches', {})

expectTypeOf<Parameters<FastifyInstance['batch']>[1]['atomic']>().toEqualTypeOf<'never' | 'byRequest' | 'always' | undefined>()
