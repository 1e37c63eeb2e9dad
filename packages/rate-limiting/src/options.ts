import type { FastifyRequest } from 'fastify'
import type { Client } from './client-key.ts'
import type { StoreGuard } from './guarded-store.ts'
import { type Limit, requireLimit } from './limit.ts'
import { type OverloadOptions, requireOverload } from './overload.ts'
import { policyName, type RateLimitPolicy } from './policy.ts'
import type { RateLimitStore } from './store.ts'

/** What `@concordat/rate-limiting` can be told. */
export interface RateLimitingOptions {
  /**
   * Who makes the request, once authentication has run; `undefined` for nobody in particular. Asked more than once a request. Without
   * it, everything is counted by address alone.
   */
  readonly client?: ((request: FastifyRequest) => Client | undefined) | undefined
  /**
   * For all requests of one address together, unknown URLs and refused credentials among them; `false` for no such limit.
   * @default { limit: 1200, windowSeconds: 60 }
   */
  readonly addressLimit?: Limit | false | undefined
  /**
   * For all requests of one client together, wherever they come from; `false` for no such limit.
   * @default { limit: 600, windowSeconds: 60 }, where `client` is given
   */
  readonly clientLimit?: Limit | false | undefined
  /**
   * Other limits in place of `clientLimit`, by the name that `client` gives as `tier`.
   * @default {}
   */
  readonly tiers?: Readonly<Record<string, Limit>> | undefined
  /**
   * How many leading bits of an IPv6 address are one address.
   * @default 64
   */
  readonly ipv6PrefixLength?: number | undefined
  /**
   * How many keys, of all limits together, are remembered in memory. Beyond, those that were silent longest are forgotten.
   * @default 50000
   */
  readonly maximumKeys?: number | undefined
  /**
   * Counts for all processes together, as `redisRateLimits` of `@concordat/redis` and `postgresRateLimits` of `@concordat/postgres` do.
   * @default each process counts for itself, in memory
   */
  readonly store?: RateLimitStore | undefined
  /**
   * How long an answer of `store` is waited for.
   * @default 250
   */
  readonly storeTimeoutMilliseconds?: number | undefined
  /**
   * What happens while `store` fails or is late: `countLocally` keeps the limits in each process alone, `refuse` answers 503
   * `RATE_LIMIT_UNAVAILABLE`. The log says when it begins and when it ends.
   * @default 'countLocally'
   */
  readonly whenStoreFails?: 'countLocally' | 'refuse' | undefined
  /** Answers 503 while this process has too much to do. Absent: it never does. */
  readonly overload?: OverloadOptions | undefined
}

/** The options as the plugin works with them. */
export interface Settings {
  readonly client: ((request: FastifyRequest) => Client | undefined) | undefined
  readonly addressPolicy: RateLimitPolicy | undefined
  readonly clientPolicy: RateLimitPolicy | undefined
  readonly tierPolicies: readonly (RateLimitPolicy & { readonly tier: string })[]
  readonly ipv6PrefixLength: number
  readonly maximumKeys: number
  readonly store: RateLimitStore | undefined
  readonly storeGuard: StoreGuard
  readonly overload: OverloadOptions | undefined
}

/** Fills in the defaults. Throws a `TypeError` with one line for what can't work. */
export function resolveOptions(options: RateLimitingOptions): Settings {
  const { client, addressLimit, clientLimit, tiers = {}, store, whenStoreFails = 'countLocally', overload } = options
  if (client !== undefined && typeof client !== 'function') {
    throw new TypeError(`rate-limiting: client is a ${typeof client}. Give a function from the request to its client.`)
  }
  if (client === undefined && (clientLimit || Object.keys(tiers).length > 0)) {
    throw new TypeError('rate-limiting: clientLimit and tiers are for clients. Give the option client, which says who makes a request.')
  }
  if (store !== undefined && typeof store?.add !== 'function') {
    throw new TypeError('rate-limiting: store is no store. Give one that has add(), as memoryStore().')
  }
  if (whenStoreFails !== 'countLocally' && whenStoreFails !== 'refuse') {
    throw new TypeError(`rate-limiting: whenStoreFails is "${String(whenStoreFails)}". Give "countLocally" or "refuse".`)
  }
  return {
    client,
    addressPolicy: policyOf('address', 'addressLimit', addressLimit ?? { limit: 1200, windowSeconds: 60 }),
    clientPolicy: client && policyOf('client', 'clientLimit', clientLimit ?? { limit: 600, windowSeconds: 60 }),
    tierPolicies: Object.entries(tiers).map(tierPolicy),
    ipv6PrefixLength: requireWhole('ipv6PrefixLength', options.ipv6PrefixLength ?? 64, 16, 128),
    maximumKeys: requireWhole('maximumKeys', options.maximumKeys ?? 50_000, 100, 10_000_000),
    store,
    storeGuard: {
      timeoutMilliseconds: requireWhole('storeTimeoutMilliseconds', options.storeTimeoutMilliseconds ?? 250, 1, 10_000),
      whenItFails: whenStoreFails
    },
    overload: overload && requireOverload(overload)
  }
}

function policyOf(scope: 'address' | 'client', option: string, limit: Limit | false): RateLimitPolicy | undefined {
  return limit === false ? undefined : { name: scope, scope, ...requireLimit(option, limit) }
}

function tierPolicy([tier, limit]: [string, Limit]) {
  if (!policyName.test(tier) || tier === 'address' || tier === 'client') {
    throw new TypeError(`rate-limiting: tiers has "${tier}". Write it in lower case with hyphens, and neither "address" nor "client".`)
  }
  return { name: tier, scope: 'client' as const, tier, ...requireLimit(`tiers.${tier}`, limit) }
}

function requireWhole(name: string, value: number, least: number, most: number) {
  if (Number.isInteger(value) && value >= least && value <= most) return value
  throw new TypeError(`rate-limiting: ${name} is ${value}. Give a whole number from ${least} to ${most}.`)
}
