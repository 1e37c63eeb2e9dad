import type { FastifyReply, FastifyRequest } from 'fastify'
import { rateLimitExceeded } from './errors.ts'
import type { Limiter } from './route-plans.ts'

/**
 * Counts a request for one limit after the other and adds each to the fields `RateLimit-Policy` and `RateLimit`
 * (draft-ietf-httpapi-ratelimit-headers-10). Throws 429 `RATE_LIMIT_EXCEEDED` at the first that has no room; the later ones don't count it.
 */
export async function spend(limiters: readonly Limiter[], cost: number, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  for (const { policy, quota, count } of limiters) {
    const { isExceeded, remaining, ttl } = await count(request, cost)
    const resetSeconds = Math.max(1, Math.ceil(ttl / 1000))
    append(reply, 'ratelimit-policy', quota)
    append(reply, 'ratelimit', `"${policy.name}";r=${remaining};t=${resetSeconds}`)
    if (isExceeded) throw rateLimitExceeded(policy, resetSeconds)
  }
}

function append(reply: FastifyReply, field: string, item: string) {
  const before = reply.getHeader(field)
  reply.header(field, before === undefined ? item : `${String(before)}, ${item}`)
}
