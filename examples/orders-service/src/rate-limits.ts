import type { HealthOptions } from '@concordat/conventions'
import type { RateLimitingOptions, RateLimitStore } from '@concordat/rate-limiting'
import { checkRedis, fromIoredis } from '@concordat/redis'
import { redisRateLimitStore } from '@concordat/redis/rate-limits'
import { Redis } from 'ioredis'
import type { Configuration } from './configuration.ts'

interface RateLimits {
  readonly options: RateLimitingOptions
  /** The store of the counters, for the health checks. */
  readonly stores: NonNullable<HealthOptions['optional']>
  close(): void
}

// An overloaded process refuses requests also where they are not counted.
const countsNothing: RateLimitStore = { add: () => ({ count: 0, resetMs: 0 }) }

/** Opens the counters of requests: one for each process, or one that all processes share when a Redis is configured. */
export async function openRateLimits({ rateLimit, redisUrl }: Configuration, onError: (error: Error) => void): Promise<RateLimits> {
  const inMemory = { stores: {}, close() {} }
  if (rateLimit === 'off') return { options: { store: countsNothing }, ...inMemory }
  if (redisUrl === undefined) return { options: {}, ...inMemory }
  // While Redis is unavailable, each process counts its own requests, so no command waits in a queue until Redis is available again.
  const redis = new Redis(redisUrl, { lazyConnect: true, enableOfflineQueue: false, maxRetriesPerRequest: 1, socketTimeout: 5000 })
  redis.on('error', onError)
  // The client reconnects to a Redis that is unavailable, so the service starts without it.
  await redis.connect().catch(() => {})
  const [counters, own] = [fromIoredis(redis), { prefix: 'orders-service' }]
  return {
    options: { store: redisRateLimitStore(counters, own) },
    stores: { redis: { check: () => checkRedis(counters, own) } },
    close: () => redis.disconnect()
  }
}
