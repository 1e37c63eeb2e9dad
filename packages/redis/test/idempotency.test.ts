import { idempotencyHttpContract, idempotencyStoreContract } from '@concordat/idempotency'
import { redisIdempotency } from '@concordat/redis/idempotency'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { clients, freshPrefix, onServer } from './server.ts'

t.setTimeout(120_000)

for (const [name, connect] of Object.entries(clients)) {
  const storesOf = async (t: Test) => {
    const prefix = freshPrefix(t)
    const stores = [redisIdempotency((await connect(t)).redis, { prefix }), redisIdempotency((await connect(t)).redis, { prefix })] as const
    t.teardown(async () => {
      for (const store of stores) await store.close?.()
    })
    return stores
  }

  t.test(`idempotency keys by ${name}, raced by two clients`, onServer, async (t) => {
    const [one, two] = await storesOf(t)
    idempotencyStoreContract(
      (title, run) => t.test(title, run),
      () => one,
      { createSecond: () => two }
    )
  })

  t.test(`the rows over HTTP by ${name}, on two clients`, onServer, async (t) => {
    const stores = await storesOf(t)
    let made = 0
    const createStore = () => {
      made += 1
      // It outlives the service that it is given to.
      const { close: _, ...store } = stores[(made % 2) as 0 | 1]
      return store
    }
    idempotencyHttpContract((title, run) => t.test(title, run), { createServer: () => Fastify(), createStore })
  })
}
