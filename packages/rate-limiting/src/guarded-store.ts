import { withDeadline } from '@concordat/deadline'
import type { FastifyBaseLogger } from 'fastify'
import { rateLimitUnavailable } from './errors.ts'
import type { Count, RateLimitStore } from './store.ts'

/** The timeout of a store, and the behavior while the store fails. */
export interface StoreGuard {
  readonly timeoutMs: number
  readonly whenItFails: 'countLocally' | 'refuse'
}

/** How long a store is not called after a failure, so that an outage delays one request a second and not every request. */
const pauseMs = 1000

/** Wraps a store with a timeout. While the store fails, `local` counts, or the request gets 503, according to `guard`, never 500. */
export function guardedStore(shared: RateLimitStore, local: RateLimitStore, guard: StoreGuard, log: FastifyBaseLogger): RateLimitStore {
  const { timeoutMs, whenItFails } = guard
  let isFailing = false
  let retryAt = 0

  return {
    async add(...request) {
      if (performance.now() < retryAt) return instead(request)
      try {
        const count = await withDeadline(Promise.resolve(shared.add(...request)), {
          ms: timeoutMs,
          onTimeout: () => new Error(`The store timed out after ${timeoutMs / 1000} s.`)
        })
        if (isFailing) recovered()
        return count
      } catch (error) {
        failed(error)
        return instead(request)
      }
    }
  }

  function instead(request: Parameters<RateLimitStore['add']>): Count | Promise<Count> {
    if (whenItFails === 'refuse') throw rateLimitUnavailable(pauseMs / 1000)
    return local.add(...request)
  }

  function failed(err: unknown) {
    retryAt = performance.now() + pauseMs
    if (isFailing) return
    isFailing = true
    log.error({ err, whenItFails }, 'rate-limiting: the store fails to count requests')
  }

  function recovered() {
    isFailing = false
    log.info('rate-limiting: the store is available again, and requests are counted')
  }
}
