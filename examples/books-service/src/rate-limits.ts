// [redis] file
import type { HealthOptions } from '@concordat/conventions'
import type { RateLimitingOptions } from '@concordat/rate-limiting'
import { checkRedis, fromIoredis } from '@concordat/redis'
import { redisRateLimitStore } from '@concordat/redis/rate-limits'
import type { Opened } from '@concordat/service'
import { Redis } from 'ioredis'

interface RateLimits {
  readonly options: RateLimitingOptions
  readonly checks: NonNullable<HealthOptions['optional']>
}

/** Opens the counters of requests that all processes share. Without a Redis, or while it is not available, each process counts alone. */
export async function openRateLimits(url: string | undefined, opened: Opened, onError: (error: unknown) => void): Promise<RateLimits> {
  if (url === undefined) return { options: {}, checks: {} }
  const client = new Redis(url, { lazyConnect: true, enableOfflineQueue: false, maxRetriesPerRequest: 1, socketTimeout: 5000 })
  client.on('error', onError)
  opened({ close: () => client.disconnect() })
  await client.connect().catch(() => {})
  const [redis, own] = [fromIoredis(client), { prefix: 'books-service' }]
  return { options: { store: redisRateLimitStore(redis, own) }, checks: { redis: { check: () => checkRedis(redis, own) } } }
}
