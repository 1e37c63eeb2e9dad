import { type RateLimitPolicy, type RouteFacts, readRouteLimit } from './limit.ts'
import type { Settings } from './options.ts'
import type { Count, RateLimitStore } from './store.ts'

/** The published limits of a route. */
export interface RateLimits {
  /** How many requests one request counts as. */
  readonly cost: number
  /** Every limit that can apply to a request. Of the limits with a `tier` and the general client limit, one applies to a client. */
  readonly policies: readonly RateLimitPolicy[]
}

/** A policy with its counter. */
export interface Limiter {
  readonly policy: RateLimitPolicy
  /** The member of `RateLimit-Policy` for this limit, for example `"address";q=1200;w=60`. */
  readonly quota: string
  /** Whether it is a limit of all requests, and not of a route, so that it counts large bodies as several requests. */
  readonly isGeneral: boolean
  /** Counts a request as `cost` requests for the key. */
  readonly add: (key: string, cost: number) => Count | Promise<Count>
}

/** The limits that apply to the requests of a route, and when they apply. */
export interface Plan {
  /** Whether requests are accepted however much there is to do. */
  readonly isExempt: boolean
  readonly cost: number
  /** The limits that apply when the request arrives. */
  readonly byAddress: readonly Limiter[]
  /** The limits that apply when the client is known, in addition to the general client limit. */
  readonly byClient: readonly Limiter[]
  /** Whether a limit counts a large body as several requests. */
  readonly countsBodies: boolean
  /** `undefined` for a route that is not counted. */
  readonly published: RateLimits | undefined
}

/** The plans of all routes. Limits with the same name are one limit. */
export interface Plans {
  /** Returns the plan of a route. Throws a `TypeError` of one line for an invalid config. */
  of(route: RouteFacts): Plan
  /** Returns the limit of a tier, or the general client limit if the tier has no limit, as an array that is empty without both. */
  ofTier(tier: string | undefined): readonly Limiter[]
}

/** The key of the plan in the config of a route. */
export const planKey: unique symbol = Symbol.for('concordat.rateLimits')

const exempt: Plan = { isExempt: true, cost: 0, byAddress: [], byClient: [], countsBodies: false, published: undefined }

/**
 * Returns the limits of a route that was registered after the plugin, from its options in `onRoute` or from `request.routeOptions`;
 * `undefined` for a route that is not counted.
 */
export function rateLimitsOf(route: { readonly config?: object | undefined }): RateLimits | undefined {
  const config: { [planKey]?: Plan } | undefined = route.config
  return config?.[planKey]?.published
}

/** Returns whether a large body of a route counts as several requests. */
export function countsBody({
  config,
  schema
}: {
  readonly config?: object | undefined
  readonly schema?: { readonly body?: unknown } | undefined
}): boolean {
  const { [planKey]: plan }: { readonly [planKey]?: Plan } = config ?? {}
  return plan?.countsBodies === true && schema?.body !== undefined
}

/** Creates the plans of routes from the options. All limits count in one store. */
export function routePlans(settings: Settings, store: RateLimitStore): Plans {
  const limiters = new Map<string, Limiter>()
  const generalNames = new Set(['address', 'client', ...settings.tierPolicies.map(({ name }) => name)])
  const general = [settings.addressPolicy].flatMap((policy) => (policy ? [limiterOf(policy)] : []))
  const client = settings.clientPolicy ? [limiterOf(settings.clientPolicy)] : []
  const tiers = new Map(settings.tierPolicies.map((policy) => [policy.tier, [limiterOf(policy)]]))
  const generalOfClients = [client, ...tiers.values()].flat()
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
      const byAddress = [...general, ...own.filter((limiter) => limiter.policy.scope === 'address')]
      const byClient = own.filter((limiter) => limiter.policy.scope === 'client')
      const policies = [...byAddress, ...generalOfClients, ...byClient].map((limiter) => limiter.policy)
      const small = policies.find(({ limit }) => limit < cost)
      if (small !== undefined) {
        throw new TypeError(`rate-limiting: the cost ${cost} exceeds the limit of "${small.name}", ${small.limit}. Correct one of them.`)
      }
      // Health checks are exempt: a process that is killed because it is busy would leave even more to the others.
      const countsBodies = [...general, ...generalOfClients].length > 0
      return { isExempt: route.directAccess === true, cost, byAddress, byClient, countsBodies, published: { cost, policies } }
    },
    ofTier: (tier) => tiers.get(tier) ?? client
  }

  function limiterOf(policy: RateLimitPolicy): Limiter {
    const { name, limit, windowSeconds } = policy
    const known = limiters.get(name)
    if (known === undefined) {
      const add: Limiter['add'] = (key, cost) => store.add(`${name}:${key}`, cost, limit, windowSeconds * 1000)
      const made = { policy, isGeneral: generalNames.has(name), quota: `"${name}";q=${limit};w=${windowSeconds}`, add }
      limiters.set(name, made)
      return made
    }
    if (describe(known.policy) !== describe(policy)) {
      throw new TypeError(
        `rate-limiting: "${name}" is defined twice, as ${describe(known.policy)} and as ${describe(policy)}. Use the same limit, or rename one.`
      )
    }
    return known
  }
}

function describe({ limit, windowSeconds, scope, tier = '' }: RateLimitPolicy) {
  return `${limit} in ${windowSeconds} s by ${scope}${tier && ` of tier ${tier}`}`
}
