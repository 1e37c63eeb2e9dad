import type { FastifyReply } from 'fastify'
import { rateLimitExceeded } from './errors.ts'
import type { Limiter } from './route-plans.ts'
import type { Count } from './store.ts'

/** The key to count for, and the number of requests to count. */
export interface Spending {
  readonly key: string
  readonly cost: number
}

/**
 * Counts a request against one limit after another, and adds each limit to the headers `RateLimit-Policy` and `RateLimit`
 * (draft-ietf-httpapi-ratelimit-headers-10). Ends with 429 `RATE_LIMIT_EXCEEDED` at the first exhausted limit; later limits do not count the
 * request. A synchronous store needs no promise.
 */
export function spend(limiters: readonly Limiter[], spending: Spending, reply: FastifyReply, done: (error?: Error) => void): void {
  try {
    for (const limiter of limiters) {
      const counted = limiter.add(spending.key, spending.cost)
      if (counted instanceof Promise) return void goOn(limiters, limiter, counted, spending, reply, done)
      notify(limiter, counted, reply)
    }
  } catch (error) {
    return done(error as Error)
  }
  done()
}

async function goOn(
  limiters: readonly Limiter[],
  limiter: Limiter,
  counting: Promise<Count>,
  spending: Spending,
  reply: FastifyReply,
  done: (error?: Error) => void
) {
  try {
    notify(limiter, await counting, reply)
  } catch (error) {
    return done(error as Error)
  }
  spend(limiters.slice(limiters.indexOf(limiter) + 1), spending, reply, done)
}

function notify({ policy, quota }: Limiter, { count, resetMs }: Count, reply: FastifyReply) {
  const resetSeconds = Math.max(1, Math.ceil(resetMs / 1000))
  append(reply, 'ratelimit-policy', quota)
  append(reply, 'ratelimit', `"${policy.name}";r=${Math.max(0, policy.limit - count)};t=${resetSeconds}`)
  if (count > policy.limit) throw rateLimitExceeded(policy, resetSeconds)
}

function append(reply: FastifyReply, field: string, item: string) {
  const before = reply.getHeader(field)
  reply.header(field, before === undefined ? item : `${String(before)}, ${item}`)
}
