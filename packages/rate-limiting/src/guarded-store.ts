import { withDeadline } from '@concordat/deadline'
import type { FastifyBaseLogger } from 'fastify'
import { rateLimitUnavailable } from './errors.ts'
import { memoryRateLimitStore } from './memory-store.ts'
import type { Settings } from './options.ts'
import type { Count, RateLimitStore } from './store.ts'

// After a failure the store is not called for a while, so that an outage delays one request a second and not every request.
const pauseMs = 1000

/** Returns the store with a timeout. While it fails, this process counts alone, or the request gets 503, never 500. Without a store, one in memory. */
export function guardedStore({ store, storeTimeoutMs, whenStoreFails }: Settings, log: FastifyBaseLogger): RateLimitStore {
  const local = memoryRateLimitStore()
  if (store === undefined) return local
  let isFailing = false
  let retryAt = 0

  return {
    async add(...request) {
      if (performance.now() < retryAt) return instead(request)
      try {
        const count = await withDeadline(Promise.resolve(store.add(...request)), {
          ms: storeTimeoutMs,
          onTimeout: () => new Error(`The store timed out after ${storeTimeoutMs / 1000} s.`)
        })
        if (isFailing) log.info('rate-limiting: the store is available again, and requests are counted')
        isFailing = false
        return count
      } catch (err) {
        retryAt = performance.now() + pauseMs
        if (!isFailing) log.error({ err, whenItFails: whenStoreFails }, 'rate-limiting: the store fails to count requests')
        isFailing = true
        return instead(request)
      }
    }
  }

  function instead(request: Parameters<RateLimitStore['add']>): Count | Promise<Count> {
    if (whenStoreFails === 'refuse') throw rateLimitUnavailable()
    return local.add(...request)
  }
}
