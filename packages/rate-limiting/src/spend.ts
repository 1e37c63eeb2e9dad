import { contractOf } from '@concordat/plugin-wiring'
import type { FastifyReply } from 'fastify'
import { rateLimitExceeded } from './errors.ts'
import type { Limiter } from './route-plans.ts'
import type { Count } from './store.ts'

const refused = { name: 'concordat.rate_limit.refusals', unit: '{request}', description: 'Requests that a limit refused, by its name.' }

/**
 * Counts a request against one limit after another, and adds each limit to the headers `RateLimit-Policy` and `RateLimit`. Ends with 429 at the first
 * exhausted limit, which is thrown; later limits do not count the request. A synchronous store needs no promise.
 */
export function spend(
  limiters: readonly Limiter[],
  spending: { readonly key: string; readonly cost: number },
  reply: FastifyReply
): Promise<void> | undefined {
  for (const limiter of limiters) {
    const counted = limiter.add(spending.key, spending.cost)
    if (counted instanceof Promise) {
      const others = limiters.slice(limiters.indexOf(limiter) + 1)
      return counted.then((count) => {
        notify(limiter, count, reply)
        return spend(others, spending, reply)
      })
    }
    notify(limiter, counted, reply)
  }
  return undefined
}

function notify({ policy, quota }: Limiter, { count, resetMs }: Count, reply: FastifyReply) {
  const resetSeconds = Math.max(1, Math.ceil(resetMs / 1000))
  append(reply, 'ratelimit-policy', quota)
  append(reply, 'ratelimit', `"${policy.name}";r=${Math.max(0, policy.limit - count)};t=${resetSeconds}`)
  if (count <= policy.limit) return
  contractOf(reply.server, 'observer')?.count(refused, { limit: policy.name })
  throw rateLimitExceeded(policy, resetSeconds)
}

function append(reply: FastifyReply, field: string, item: string) {
  const before = reply.getHeader(field)
  reply.header(field, before === undefined ? item : `${String(before)}, ${item}`)
}
