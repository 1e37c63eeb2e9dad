import { withDeadline } from '@concordat/plugin-kit/deadline'
import { outageLog } from '@concordat/plugin-kit/outage-log'
import type { FastifyBaseLogger } from 'fastify'
import { rateLimitUnavailable } from './errors.ts'
import { memoryRateLimitStore } from './memory-store.ts'
import type { Settings } from './options.ts'
import type { Count, RateLimitStore } from './store.ts'

// After a failure the store is not called for a while, so that an outage delays one request a second and not every request.
const pauseMs = 1000
const consequences = {
  countLocally: 'rate-limiting: the store fails to count requests, so each process counts its own',
  refuse: 'rate-limiting: the store fails to count requests, so they are refused'
} as const

/** Returns the store with a timeout. While it fails, this process counts alone, or the request gets 503, never 500. Without a store, one in memory. */
export function guardedStore({ store, storeTimeoutMs, whenStoreFails }: Settings, log: FastifyBaseLogger): RateLimitStore {
  const local = memoryRateLimitStore()
  if (store === undefined) return local
  const report = outageLog(log)
  let retryAt = 0

  return {
    async add(...request) {
      if (performance.now() < retryAt) return instead(request)
      try {
        return await withDeadline(Promise.resolve(store.add(...request)), {
          ms: storeTimeoutMs,
          onTimeout: () => new Error(`The store timed out after ${storeTimeoutMs / 1000} s.`)
        })
      } catch (err) {
        retryAt = performance.now() + pauseMs
        report(err, consequences[whenStoreFails])
        return instead(request)
      }
    }
  }

  function instead(request: Parameters<RateLimitStore['add']>): Count | Promise<Count> {
    if (whenStoreFails === 'refuse') throw rateLimitUnavailable()
    return local.add(...request)
  }
}
