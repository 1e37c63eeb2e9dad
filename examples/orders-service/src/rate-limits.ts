import type { RateLimitingOptions } from '@concordat/rate-limiting'
import { fromIoredis } from '@concordat/redis'
import { redisRateLimits } from '@concordat/redis/rate-limits'
import { Redis } from 'ioredis'
import type { Configuration } from './configuration.ts'

interface RateLimits {
  readonly options: RateLimitingOptions | false
  close(): void
}

/** How requests are counted: by each process for itself, or by all together where there is a Redis. */
export async function openRateLimits({ rateLimit, redisUrl }: Configuration, onError: (error: Error) => void): Promise<RateLimits> {
  if (rateLimit === 'off') return { options: false, close() {} }
  if (redisUrl === undefined) return { options: {}, close() {} }
  // While Redis is away a process counts for itself, so nothing waits in a queue for it to come back.
  const redis = new Redis(redisUrl, { lazyConnect: true, enableOfflineQueue: false, maxRetriesPerRequest: 1 })
  redis.on('error', onError)
  // One that is not there is tried again, and is no reason not to start.
  await redis.connect().catch(() => {})
  return { options: { store: redisRateLimits(fromIoredis(redis), { prefix: 'orders-service' }) }, close: () => redis.disconnect() }
}
