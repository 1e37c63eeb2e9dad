import type { RateLimitStore } from '@concordat/rate-limiting'
import { type Redis, type StoreOptions, spreadKeysOf } from './redis.ts'
import { script } from './script.ts'

// A key without an end, which nothing here writes, gets one instead of refusing for ever.
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

/** Requests, counted in Redis for all processes together: one script a count, one key a client, which Redis forgets when its window ends. */
export function redisRateLimits(redis: Redis, { prefix = 'concordat' }: StoreOptions = {}): RateLimitStore {
  const keyOf = spreadKeysOf(prefix, 'rate-limits')

  return {
    async add(key, ...numbers) {
      const [count, resetMilliseconds] = (await redis.run(add, [keyOf(key), ...numbers.map(String)])) as [number, number]
      return { count, resetMilliseconds }
    }
  }
}
