import { memoryIdempotencyStore } from '@concordat/idempotency'
import { casesOf } from '@concordat/test-harness/contract-cases'
import { idempotencyHttpContract } from '@concordat/test-harness/idempotency-http-contract'
import Fastify from 'fastify'
import t from 'tap'

t.test('the memory store passes the HTTP contract [S7] [I1] [I2] [I3] [I4] [I5]', async (t) => {
  const store = memoryIdempotencyStore()
  // Cases run concurrently, because most of them wait for leases and each has its own key.
  idempotencyHttpContract(casesOf(t, 4), () => ({ server: Fastify(), store }))
})
