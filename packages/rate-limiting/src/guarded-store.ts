import type { FastifyBaseLogger } from 'fastify'
import { rateLimitUnavailable } from './errors.ts'
import type { Count, RateLimitStore } from './store.ts'

/** The behavior while a store fails or times out. */
export interface StoreGuard {
  readonly timeoutMilliseconds: number
  readonly whenItFails: 'countLocally' | 'refuse'
}

/** How long a store is not called after a failure, so that an outage delays one request a second and not every request. */
const pauseMilliseconds = 1000

/** Wraps a store with a timeout. While the store fails, `local` counts, or the request gets 503, according to `guard`, never 500. */
export function guardedStore(shared: RateLimitStore, local: RateLimitStore, guard: StoreGuard, log: FastifyBaseLogger): RateLimitStore {
  const { timeoutMilliseconds, whenItFails } = guard
  let isFailing = false
  let askAgainAt = 0

  return {
    async add(...request) {
      if (performance.now() < askAgainAt) return instead(request)
      try {
        const count = await inTime(shared.add(...request), timeoutMilliseconds)
        if (isFailing) recovered()
        return count
      } catch (error) {
        failed(error)
        return instead(request)
      }
    }
  }

  function instead(request: Parameters<RateLimitStore['add']>): Count | Promise<Count> {
    if (whenItFails === 'refuse') throw rateLimitUnavailable(pauseMilliseconds / 1000)
    return local.add(...request)
  }

  function failed(err: unknown) {
    askAgainAt = performance.now() + pauseMilliseconds
    if (isFailing) return
    isFailing = true
    log.error({ err, whenItFails }, 'rate-limiting: the store does not count requests')
  }

  function recovered() {
    isFailing = false
    log.info('rate-limiting: the store counts requests again')
  }
}

async function inTime<Result>(work: Result | Promise<Result>, milliseconds: number): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`The store timed out after ${milliseconds} ms.`)), milliseconds)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}
