import { redisRateLimitStore } from '@concordat/redis/rate-limits'
import { inTurn, testRateLimits } from '@concordat/test-harness/counts'
import { Redis as Ioredis } from 'ioredis'
import t, { type Test } from 'tap'
import { clients, freshPrefix, onServer, server } from './server.ts'

const minute = 60_000

for (const [name, connect] of Object.entries(clients)) {
  t.test(`counts rate limits with ${name} while two clients compete`, onServer, async (t) => {
    const prefix = freshPrefix(t)
    const [one, two] = [await connect(t), await connect(t)]
    testRateLimits(t, inTurn(redisRateLimitStore(one.redis, { prefix }), redisRateLimitStore(two.redis, { prefix })))
  })
}

t.test('expires a count with its window, and repairs a count without an expiry', onServer, async (t) => {
  const prefix = freshPrefix(t)
  const client = new Ioredis(server)
  t.teardown(() => client.disconnect())
  const { redis } = await (clients['ioredis'] as (t: Test) => ReturnType<(typeof clients)[string]>)(t)
  const store = redisRateLimitStore(redis, { prefix })
  await store.add('address:192.0.2.1', 1, 10, minute)
  const key = `{${prefix}:rate-limits:address:192.0.2.1}`
  t.equal(await client.get(key), '1')
  t.ok((await client.pttl(key)) > 0)
  await client.set(key, 1000)
  t.strictSame(await store.add('address:192.0.2.1', 1, 10, minute), { count: 1, resetMs: minute })
})
