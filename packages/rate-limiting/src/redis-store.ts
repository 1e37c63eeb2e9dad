import type { RateLimitStore } from './store.ts'

/** The part of an `ioredis` client, or cluster client, that is used. */
export interface RedisClient {
  defineCommand(name: string, definition: { lua: string; numberOfKeys?: number }): unknown
}

/** How keys are named in Redis. */
export interface RedisStoreOptions {
  /**
   * What every key begins with. Services that share a Redis need different ones, processes of one service the same.
   * @default 'rate-limit:'
   */
  readonly keyPrefix?: string | undefined
}

interface PreparedClient {
  concordatRateLimit(
    key: string,
    cost: number,
    limit: number,
    windowMilliseconds: number
  ): Promise<[count: number, resetMilliseconds: number]>
}

// A key without an end, which nothing here writes, gets one instead of refusing for ever.
const lua = `
local count = tonumber(ARGV[1])
local left = redis.call('PTTL', KEYS[1])
if left <= 0 then
  redis.call('SET', KEYS[1], count, 'PX', ARGV[3])
  return { count, tonumber(ARGV[3]) }
end
count = count + tonumber(redis.call('GET', KEYS[1]))
if count <= tonumber(ARGV[2]) then redis.call('INCRBY', KEYS[1], ARGV[1]) end
return { count, left }
`

/** Counts in Redis, for all processes together: one script a count, one key a client, which Redis forgets when its window ends. */
export function redisStore(client: RedisClient, { keyPrefix = 'rate-limit:' }: RedisStoreOptions = {}): RateLimitStore {
  if (typeof client?.defineCommand !== 'function') {
    throw new TypeError('rate-limiting: redisStore got no client of ioredis. Give one, as new Redis(url).')
  }
  if (typeof keyPrefix !== 'string' || keyPrefix === '') {
    throw new TypeError('rate-limiting: keyPrefix is empty. Give a text that no other use of this Redis begins its keys with.')
  }
  client.defineCommand('concordatRateLimit', { numberOfKeys: 1, lua })
  const prepared = client as unknown as PreparedClient
  return {
    async add(key, cost, limit, windowMilliseconds) {
      const [count, resetMilliseconds] = await prepared.concordatRateLimit(keyPrefix + key, cost, limit, windowMilliseconds)
      return { count, resetMilliseconds }
    }
  }
}
