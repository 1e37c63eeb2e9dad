import batch, { type BatchOptions, type BatchRoute, batchErrors, isBatch } from '@concordat/batch'
import type { Transactions } from '@concordat/plugin-wiring'
import { expectTypeOf } from 'expect-type'
import Fastify, { type FastifyRequest } from 'fastify'

const app = Fastify()
app.register(batch, { batchKey: () => null })
app.batch('/order-batches', { paths: ['/orders'], atomic: 'byRequest', maxOperations: 10 })
// @ts-expect-error unknown value
app.batch('/order-batches', { paths: ['/orders'], atomic: 'sometimes' })
// @ts-expect-error paths is required
app.batch('/order-batches', {})

expectTypeOf<BatchRoute['atomic']>().toEqualTypeOf<'never' | 'byRequest' | 'always' | undefined>()
expectTypeOf<BatchOptions['transactions']>().toEqualTypeOf<Pick<Transactions, 'runAsOne' | 'transactionOf'> | undefined>()
expectTypeOf<Transactions['transactionOf']>().parameter(0).toEqualTypeOf<FastifyRequest>()
expectTypeOf(batchErrors.definitions).toBeObject()
expectTypeOf(isBatch({})).toBeBoolean()
