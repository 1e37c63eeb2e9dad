import { idempotencyHttpContract, memoryStore } from '@concordat/idempotency'
import Fastify from 'fastify'
import t from 'tap'

t.test('the rows over HTTP, with the store in memory', async (t) => {
  const store = memoryStore()
  idempotencyHttpContract((title, run) => t.test(title, run), { createServer: () => Fastify(), createStore: () => store })
})
