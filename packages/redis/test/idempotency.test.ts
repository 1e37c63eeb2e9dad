import { idempotencyStoreContract } from '@concordat/idempotency'
import { redisIdempotency } from '@concordat/redis/idempotency'
import t from 'tap'
import { clients, freshPrefix, onServer } from './server.ts'

t.setTimeout(120_000)

for (const [name, connect] of Object.entries(clients)) {
  t.test(`idempotency keys by ${name}, raced by two clients`, onServer, async (t) => {
    const prefix = freshPrefix(t)
    const [one, two] = [await connect(t), await connect(t)]
    const stores = [redisIdempotency(one.redis, { prefix }), redisIdempotency(two.redis, { prefix })] as const
    t.teardown(() => Promise.all(stores.map((store) => store.close?.())))
    idempotencyStoreContract(
      (title, run) => t.test(title, run),
      () => stores[0],
      { createSecond: () => stores[1] }
    )
  })
}
