import { idempotencyHttpContract, memoryStore } from '@concordat/idempotency'
import { casesOf } from '@concordat/test-harness/contract-cases'
import Fastify from 'fastify'
import t from 'tap'

t.test('the memory store passes the HTTP contract [S7] [I1] [I2] [I3] [I4] [I5]', async (t) => {
  const store = memoryStore()
  // Cases run concurrently, because most of them wait for leases and each has its own key.
  idempotencyHttpContract(casesOf(t, 4), { createServer: () => Fastify(), createStore: () => store })
})
