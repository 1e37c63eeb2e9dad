import { callback, describeOptions, type OptionsOf, requirePeers } from '@concordat/plugin-kit/options'
import { Redis as Ioredis } from 'ioredis'
import { fromIoredis } from './ioredis.ts'
import { checkRedis, type Redis, storeOptions } from './redis.ts'

/** The description of {@link OpenRedisOptions}. */
const openRedisOptions = describeOptions('redis', {
  ...storeOptions.members,
  /** Called with the first error of each outage, for the log: `(error) => app.log.warn(error, 'Redis is not available. Each process counts alone.')`. */
  onError: callback<(error: unknown) => void>('receives an error', { default: () => {} })
})

/** Options of {@link openRedis}. */
export interface OpenRedisOptions extends OptionsOf<typeof openRedisOptions> {}

/** A Redis that `openRedis` opened. */
export interface OpenRedis {
  /** This Redis, to pass to stores. */
  readonly redis: Redis
  /** Rejects when Redis cannot be reached or refuses writes, for `health` of the preset. */
  check(): Promise<void>
  /** Closes the connection. */
  close(): void
}

/**
 * Opens a Redis by its URL, with `ioredis`. Resolves also when Redis is not available: the client connects as soon as it is. Until then, commands fail
 * immediately, and do not wait in memory. `prefix` is that of the keys of `check`. Rejects with a `TypeError` for another URL than `redis://` and
 * `rediss://`.
 */
export async function openRedis(url: string, options: OpenRedisOptions = {}): Promise<OpenRedis> {
  const { onError, ...store } = openRedisOptions.read(options)
  // Without a URL, the client connects to the Redis of this machine. The value can contain a password, so the message has only its type.
  if (typeof url !== 'string' || !/^rediss?:\/\/./.test(url)) {
    throw new TypeError(
      `redis: openRedis: url must be a redis:// or rediss:// URL, not ${typeof url === 'string' ? 'another text' : String(url)}.`
    )
  }
  requirePeers('redis: openRedis', ['ioredis@6.0'], import.meta)
  const client = new Ioredis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    socketTimeout: 5000,
    // Also after a long outage, Redis is used again within a second.
    retryStrategy: (times) => Math.min(50 * times, 500)
  })
  let isReported = false
  client.on('ready', () => {
    isReported = false
  })
  client.on('error', (error) => {
    if (!isReported) onError(error)
    isReported = true
  })
  await client.connect().catch(() => {})
  const redis = fromIoredis(client)
  return { redis, check: () => checkRedis(redis, store), close: () => client.disconnect() }
}
