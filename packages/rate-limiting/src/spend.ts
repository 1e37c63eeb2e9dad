import { contractOf } from '@concordat/plugin-kit/wiring'
import type { FastifyReply } from 'fastify'
import { rateLimitExceeded } from './errors.ts'
import type { Limiter } from './route-plans.ts'
import type { Count } from './store.ts'

const refused = { name: 'concordat.rate_limit.refusals', unit: '{request}', description: 'Requests that a limit refused, by its name.' }

/** What is counted. */
interface Spending {
  readonly key: string
  readonly cost: number
  /** The requests that a large body counts as, besides the cost, for the limits of all requests. */
  readonly more: number
}

/**
 * Counts a request against one limit after another, and adds each limit to the headers `RateLimit-Policy` and `RateLimit`. Ends with 429 at the first
 * exhausted limit, which is thrown; later limits do not count the request. A synchronous store needs no promise.
 */
export function spend(limiters: readonly Limiter[], spending: Spending, reply: FastifyReply): Promise<void> | undefined {
  for (const limiter of limiters) {
    const { key, cost, more } = spending
    const counted = limiter.add(key, limiter.isGeneral ? Math.min(cost + more, limiter.policy.limit) : cost)
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
  const start = `"${policy.name}";`
  const rest = `${start}r=${Math.max(0, policy.limit - count)};t=${resetSeconds}`
  const quotas = reply.getHeader('ratelimit-policy')
  if (quotas === undefined) reply.header('ratelimit-policy', quota).header('ratelimit', rest)
  else
    reply
      .header('ratelimit-policy', withItem(quotas, start, quota))
      .header('ratelimit', withItem(reply.getHeader('ratelimit'), start, rest))
  if (count <= policy.limit) return
  contractOf(reply.server, 'observer')?.count(refused, { limit: policy.name })
  throw rateLimitExceeded(policy, resetSeconds)
}

// The item of a limit that is counted again, for more of a body, is replaced.
function withItem(items: ReturnType<FastifyReply['getHeader']>, start: string, item: string) {
  const text = String(items)
  const at = text.indexOf(start)
  const end = text.indexOf(',', at + start.length)
  return at === -1 ? `${text}, ${item}` : `${text.slice(0, at)}${item}${end === -1 ? '' : text.slice(end)}`
}
