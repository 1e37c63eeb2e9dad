import type { RateLimitStore } from '@concordat/rate-limiting'
import { type Redis, type StoreOptions, script, spreadKeysOf } from './redis.ts'

// A key without an expiry, which this store never writes, gets one, so that it does not refuse requests forever.
const add = script(`
local cost, limit = tonumber(ARGV[2]), tonumber(ARGV[3])
local left = redis.call('PTTL', ARGV[1])
if left <= 0 then
  redis.call('SET', ARGV[1], cost > limit and 0 or cost, 'PX', ARGV[4])
  return { cost, tonumber(ARGV[4]) }
end
local sum = redis.call('GET', ARGV[1]) + cost
if sum <= limit then redis.call('INCRBY', ARGV[1], cost) end
return { sum, left }
`)

/** Creates a store that counts requests in Redis for all processes together. Redis deletes a key when its window ends. */
export function redisRateLimitStore(redis: Redis, options: StoreOptions = {}): RateLimitStore {
  const keyOf = spreadKeysOf(options, 'rate-limits')

  return {
    async add(key, ...numbers) {
      const [count, resetMs] = (await redis.run(add, [keyOf(key), ...numbers.map(String)])) as [number, number]
      return { count, resetMs }
    }
  }
}
