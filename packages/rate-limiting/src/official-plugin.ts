import { createRequire } from 'node:module'
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { Count, RateLimitStore } from './store.ts'

/** One request, counted. `ttl` are the milliseconds until the window ends. */
export interface Hit {
  readonly isExceeded: boolean
  readonly remaining: number
  readonly ttl: number
}

/** Options of `createRateLimit`. It hands all of them, `cost` too, to the store. `timeWindow` is in milliseconds. */
interface LimitSettings {
  readonly max: number
  readonly timeWindow: number
  readonly cost: number
  readonly keyGenerator: (request: FastifyRequest) => string
}

/** Makes what counts a request for one limit. */
export type OfficialLimiter = (settings: LimitSettings) => (request: FastifyRequest) => Promise<Hit>

interface Official extends FastifyPluginAsync<{ readonly global: false; readonly store: unknown }> {
  /** The address in one form, of IPv6 its network. */
  readonly normalizeIP: (address: string, ipv6PrefixLength: number) => string
}

// Required and not imported, since the types of @fastify/rate-limit declare `config.rateLimit` for their own options.
const require = createRequire(import.meta.url)
const official = require('@fastify/rate-limit') as Official

export const normalizeAddress: Official['normalizeIP'] = official.normalizeIP

/**
 * Registers `@fastify/rate-limit` where it sees no route, and answers what it counts with. Where it saw them, it would read
 * `config.rateLimit` as its own, count no unknown URL and send other fields. It counts in our stores: its own in memory hands the same
 * object to every request, so that of those that come at once each is judged by the last one's count, and none can count a cost.
 */
export async function officialLimiter(app: FastifyInstance, store: RateLimitStore): Promise<OfficialLimiter> {
  let limiter: OfficialLimiter | undefined
  await app.register(async (child) => {
    await child.register(official, { global: false, store: officialStore(store) })
    limiter = (child as unknown as { createRateLimit: OfficialLimiter }).createRateLimit
  })
  return limiter as OfficialLimiter
}

type Answer = (error: unknown, result?: { current: number; ttl: number }) => void

/** The class that the option `store` takes. */
function officialStore(store: RateLimitStore) {
  return class OfficialStore {
    child({ cost }: LimitSettings) {
      return {
        incr(key: string, answer: Answer, timeWindow: number, max: number) {
          // What throws here rejects the promise that the caller waits for. A store in memory answers at once and costs no promise.
          const counted = store.add(key, cost, max, timeWindow)
          if (counted instanceof Promise) void answerLater(counted, answer)
          else answer(null, hitOf(counted))
        }
      }
    }
  }
}

async function answerLater(counted: Promise<Count>, answer: Answer) {
  try {
    answer(null, hitOf(await counted))
  } catch (error) {
    answer(error)
  }
}

function hitOf({ count, resetMilliseconds }: Count) {
  return { current: count, ttl: resetMilliseconds }
}
