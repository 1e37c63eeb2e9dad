import type { FastifyRequest } from 'fastify'
import type { Hit, OfficialLimiter } from './official-plugin.ts'
import type { RateLimitPolicy } from './policy.ts'

/** Counts a request as `cost` requests for one policy. */
export type Counter = (request: FastifyRequest, cost: number) => Promise<Hit>

/** Makes the counter of a policy; `keyOf` says whose request it is. */
export function counterOf(
  limiter: OfficialLimiter,
  { name, limit, windowSeconds }: RateLimitPolicy,
  keyOf: (request: FastifyRequest) => string
): Counter {
  const hits = new Map<number, (request: FastifyRequest) => Promise<Hit>>()
  return async (request, cost) => (hits.get(cost) ?? ofCost(cost))(request)

  function ofCost(cost: number) {
    // All policies share the keys of one store.
    const hit = limiter({ max: limit, timeWindow: windowSeconds * 1000, cost, keyGenerator: (request) => `${name}:${keyOf(request)}` })
    hits.set(cost, hit)
    return hit
  }
}
