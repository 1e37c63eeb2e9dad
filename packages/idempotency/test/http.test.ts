import { idempotencyHttpContract, memoryStore } from '@concordat/idempotency'
import Fastify from 'fastify'
import t from 'tap'

t.test('the rows over HTTP, with the store in memory [S7] [I1] [I2] [I3] [I4] [I5]', async (t) => {
  const store = memoryStore()
  idempotencyHttpContract((title, run) => t.test(title, run), { createServer: () => Fastify(), createStore: () => store })
})
