import type { Settings } from './options.ts'
import { quotaItem, type RateLimitPolicy } from './policy.ts'
import type { RateLimits } from './published-limits.ts'
import { type RouteFacts, readRouteLimit } from './route-limit.ts'
import type { Count, RateLimitStore } from './store.ts'

/** A policy with its counter. */
export interface Limiter {
  readonly policy: RateLimitPolicy
  /** The member of `RateLimit-Policy` for this limit. */
  readonly quota: string
  /** Counts a request as `cost` requests for the key. */
  readonly add: (key: string, cost: number) => Count | Promise<Count>
}

/** The limits that apply to the requests of a route, and when they apply. */
export interface Plan {
  readonly isCounted: boolean
  /** Whether requests are accepted however much there is to do. */
  readonly isExempt: boolean
  readonly cost: number
  /** The limits that apply when the request arrives. */
  readonly byAddress: readonly Limiter[]
  /** The limits that apply when the client is known, in addition to the general client limit. */
  readonly byClient: readonly Limiter[]
}

/** The plans of all routes. Limits with the same name are one limit. */
export interface Plans {
  /** Returns the plan of a route. Throws a `TypeError` of one line for an invalid config. */
  of(route: RouteFacts): Plan
  /** Returns the limit of a tier, or the general client limit if the tier has no limit. */
  ofTier(tier: string | undefined): Limiter | undefined
  /** Returns the published limits of a plan; `undefined` for a route that is not counted. */
  published(plan: Plan): RateLimits | undefined
}

const exempt: Plan = { isCounted: false, isExempt: true, cost: 0, byAddress: [], byClient: [] }

/** Creates the plans of routes from the options. All limits count in one store. */
export function routePlans(settings: Settings, store: RateLimitStore): Plans {
  const limiters = new Map<string, Limiter>()
  const general = [settings.addressPolicy].flatMap((policy) => (policy ? [limiterOf(policy)] : []))
  const client = settings.clientPolicy && limiterOf(settings.clientPolicy)
  const tiers = new Map(settings.tierPolicies.map((policy) => [policy.tier, limiterOf(policy)]))
  const defaultScope = settings.client ? 'client' : 'address'

  return {
    of(route) {
      if (route.rateLimit === false) return exempt
      const { cost, policy } = readRouteLimit(route, defaultScope)
      if (policy?.scope === 'client' && settings.client === undefined) {
        throw new TypeError(
          `rate-limiting: "${policy.name}" is a limit per client, which requires options.client. Set it, or use the scope "address".`
        )
      }
      const own = policy ? [limiterOf(policy)] : []
      const plan = {
        isCounted: true,
        // Health checks: a process that is killed because it is busy would leave even more to the others.
        isExempt: route.directAccess === true,
        cost,
        byAddress: [...general, ...own.filter((limiter) => limiter.policy.scope === 'address')],
        byClient: own.filter((limiter) => limiter.policy.scope === 'client')
      }
      requireRoom(plan)
      return plan
    },
    ofTier: (tier) => (tier === undefined ? undefined : tiers.get(tier)) ?? client,
    published: ({ isCounted, cost, byAddress, byClient }) =>
      isCounted ? { cost, policies: [...byAddress, ...generalOfClients(), ...byClient].map(({ policy }) => policy) } : undefined
  }

  function limiterOf(policy: RateLimitPolicy): Limiter {
    const known = limiters.get(policy.name)
    if (known === undefined) {
      const made = limiterIn(store, policy)
      limiters.set(policy.name, made)
      return made
    }
    if (describe(known.policy) !== describe(policy)) {
      throw new TypeError(
        `rate-limiting: "${policy.name}" is defined twice, as ${describe(known.policy)} and as ${describe(policy)}. Use the same limit, or rename one.`
      )
    }
    return known
  }

  function generalOfClients() {
    return [...(client ? [client] : []), ...tiers.values()]
  }

  function requireRoom(plan: Plan) {
    const small = [...plan.byAddress, ...generalOfClients(), ...plan.byClient].find(({ policy }) => policy.limit < plan.cost)
    if (small === undefined) return
    throw new TypeError(
      `rate-limiting: the cost ${plan.cost} exceeds the limit of "${small.policy.name}", ${small.policy.limit}. Correct one of them.`
    )
  }
}

function limiterIn(store: RateLimitStore, policy: RateLimitPolicy): Limiter {
  const { name, limit, windowSeconds } = policy
  return { policy, quota: quotaItem(policy), add: (key, cost) => store.add(`${name}:${key}`, cost, limit, windowSeconds * 1000) }
}

function describe({ limit, windowSeconds, scope, tier = '' }: RateLimitPolicy) {
  return `${limit} in ${windowSeconds} s by ${scope}${tier && ` of tier ${tier}`}`
}
