import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type OfficialStore, officialLimiter } from './official-plugin.ts'
import type { RateLimitPolicy } from './policy.ts'

/** What a policy says of one request. */
export interface Verdict {
  readonly isExceeded: boolean
  readonly remaining: number
  /** Until the window ends, at least 1. */
  readonly resetSeconds: number
}

/** Counts a request as `cost` requests. `undefined`: it was let through uncounted. */
export type Counter = (request: FastifyRequest, cost: number) => Promise<Verdict | undefined>

/** Makes the counter of a policy; `keyOf` says whose request it is. */
export type MakeCounter = (policy: RateLimitPolicy, keyOf: (request: FastifyRequest) => string) => Counter

/** Counters in one store. A window begins with the first request of its key and lasts as long as the policy says. */
export async function countersIn(app: FastifyInstance, store: OfficialStore): Promise<MakeCounter> {
  const limiter = await officialLimiter(app, store)
  return ({ name, limit, windowSeconds }, keyOf) => {
    const hit = limiter({
      max: limit,
      timeWindow: windowSeconds * 1000,
      // All limits share one namespace in Redis.
      keyGenerator: (request) => `${name}:${keyOf(request)}`
    })
    return async (request, cost) => {
      // The stores count by one. Hits reach them in the order they were made, so the last has the highest count.
      const hits = cost === 1 ? [await hit(request)] : await Promise.all(Array.from({ length: cost }, async () => hit(request)))
      const { isExceeded, remaining, ttl } = hits.at(-1) as (typeof hits)[0]
      return { isExceeded, remaining, resetSeconds: Math.max(1, Math.ceil(ttl / 1000)) }
    }
  }
}
