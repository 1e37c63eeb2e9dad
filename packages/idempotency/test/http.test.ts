import { idempotencyHttpContract, memoryStore } from '@concordat/idempotency'
import { casesOf } from '@concordat/test-harness/contract-cases'
import Fastify from 'fastify'
import t from 'tap'

t.test('the rows over HTTP, with the store in memory [S7] [I1] [I2] [I3] [I4] [I5]', async (t) => {
  const store = memoryStore()
  // Most cases wait for leases, and each has a key of its own.
  idempotencyHttpContract(casesOf(t, 4), { createServer: () => Fastify(), createStore: () => store })
})
