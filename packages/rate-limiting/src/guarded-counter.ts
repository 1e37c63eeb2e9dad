import type { FastifyBaseLogger } from 'fastify'
import type { Counter, MakeCounter } from './counter.ts'
import { rateLimitUnavailable } from './errors.ts'
import type { resolveRedis } from './redis-options.ts'

type Settings = Pick<ReturnType<typeof resolveRedis>, 'timeoutMilliseconds' | 'whenItFails'>

/** How long Redis is left alone after a failure, so that an outage delays one request a second and not each. */
const pauseMilliseconds = 1000

/** Counters in Redis that keep their promise while Redis fails: by the policy of the service, never by a 500, never by waiting. */
export function guardedCounters(shared: MakeCounter, local: MakeCounter, settings: Settings, log: FastifyBaseLogger): MakeCounter {
  const { timeoutMilliseconds, whenItFails } = settings
  let failing = false
  let askAgainAt = 0

  return (policy, keyOf) => {
    const count = shared(policy, keyOf)
    const instead = substitute(local(policy, keyOf))
    return async (request, cost) => {
      if (performance.now() < askAgainAt) return instead(request, cost)
      try {
        const verdict = await inTime(count(request, cost), timeoutMilliseconds)
        if (failing) recovered()
        return verdict
      } catch (error) {
        failed(error)
        return instead(request, cost)
      }
    }
  }

  function substitute(count: Counter): Counter {
    if (whenItFails === 'countLocally') return count
    return async () => {
      if (whenItFails === 'refuse') throw rateLimitUnavailable(1)
      return undefined
    }
  }

  function failed(err: unknown) {
    askAgainAt = performance.now() + pauseMilliseconds
    if (failing) return
    failing = true
    log.error({ err, whenItFails }, 'rate-limiting: Redis does not count requests')
  }

  function recovered() {
    failing = false
    log.info('rate-limiting: Redis counts requests again')
  }
}

async function inTime<Result>(work: Promise<Result>, milliseconds: number): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`No answer within ${milliseconds} ms.`)), milliseconds)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}
