import type { RateLimitingOptions, RateLimitStore } from '@concordat/rate-limiting'
import { fromIoredis } from '@concordat/redis'
import { redisRateLimitStore } from '@concordat/redis/rate-limits'
import { Redis } from 'ioredis'
import type { Configuration } from './configuration.ts'

interface RateLimits {
  readonly options: RateLimitingOptions
  /** Rejects when the store of the counters is unavailable. */
  check(): Promise<unknown>
  close(): void
}

// An overloaded process refuses requests also where they are not counted.
const countsNothing: RateLimitStore = { add: () => ({ count: 0, resetMs: 0 }) }

/** Opens the counters of requests: one for each process, or one that all processes share when a Redis is configured. */
export async function openRateLimits({ rateLimit, redisUrl }: Configuration, onError: (error: Error) => void): Promise<RateLimits> {
  const inMemory = { check: async () => {}, close() {} }
  if (rateLimit === 'off') return { options: { store: countsNothing }, ...inMemory }
  if (redisUrl === undefined) return { options: {}, ...inMemory }
  // While Redis is unavailable, each process counts its own requests, so no command waits in a queue until Redis is available again.
  const redis = new Redis(redisUrl, { lazyConnect: true, enableOfflineQueue: false, maxRetriesPerRequest: 1 })
  redis.on('error', onError)
  // The client reconnects to a Redis that is unavailable, so the service starts without it.
  await redis.connect().catch(() => {})
  return {
    options: { store: redisRateLimitStore(fromIoredis(redis), { prefix: 'orders-service' }) },
    check: () => redis.ping(),
    close: () => redis.disconnect()
  }
}
