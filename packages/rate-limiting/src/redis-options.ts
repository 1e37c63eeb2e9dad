/** The part of an `ioredis` client, or cluster client, that is used. */
export interface RedisClient {
  defineCommand(name: string, definition: { lua: string; numberOfKeys?: number }): unknown
}

/** How requests are counted in Redis. */
export interface RedisOptions {
  /** A client of `ioredis`. It stays the caller's: the plugin does not close it. */
  readonly client: RedisClient
  /**
   * What every key in Redis begins with. Services that share a Redis need different ones, processes of one service the same.
   * @default 'rate-limit:'
   */
  readonly keyPrefix?: string | undefined
  /**
   * How long an answer of Redis is waited for.
   * @default 250
   */
  readonly timeoutMilliseconds?: number | undefined
  /**
   * What happens while Redis fails or is late: `countLocally` keeps the same limits in each process alone, `allow` lets everything
   * through uncounted, `refuse` answers 503 `RATE_LIMIT_UNAVAILABLE`. The log says when it begins and when it ends.
   * @default 'countLocally'
   */
  readonly whenItFails?: 'countLocally' | 'allow' | 'refuse' | undefined
}

const policies: readonly unknown[] = ['countLocally', 'allow', 'refuse']

/** Fills in the defaults. Throws a `TypeError` with one line for what can't work. */
export function resolveRedis({
  client,
  keyPrefix = 'rate-limit:',
  timeoutMilliseconds = 250,
  whenItFails = 'countLocally'
}: RedisOptions): Required<{ [Key in keyof RedisOptions]: NonNullable<RedisOptions[Key]> }> {
  if (typeof client?.defineCommand !== 'function') {
    throw new TypeError('rate-limiting: redis.client is no client of ioredis. Give one, as new Redis(url).')
  }
  if (typeof keyPrefix !== 'string' || keyPrefix === '') {
    throw new TypeError('rate-limiting: redis.keyPrefix is empty. Give a text that no other use of this Redis begins its keys with.')
  }
  if (!Number.isInteger(timeoutMilliseconds) || timeoutMilliseconds < 1 || timeoutMilliseconds > 10_000) {
    throw new TypeError(
      `rate-limiting: redis.timeoutMilliseconds is ${timeoutMilliseconds}. Give a whole number of milliseconds from 1 to 10000.`
    )
  }
  if (!policies.includes(whenItFails)) {
    throw new TypeError(`rate-limiting: redis.whenItFails is "${whenItFails}". Give ${policies.join(', ')}.`)
  }
  return { client, keyPrefix, timeoutMilliseconds, whenItFails }
}
