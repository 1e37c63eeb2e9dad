import {
  callback,
  describeOptions,
  duration,
  group,
  instance,
  integer,
  type OptionsOf,
  oneOf,
  optionChecks,
  orFalse,
  value
} from '@concordat/plugin-options'
import type { FastifyRequest } from 'fastify'
import type { Client } from './client-key.ts'
import type { StoreGuard } from './guarded-store.ts'
import { type Limit, requireLimit } from './limit.ts'
import { type OverloadSettings, overloadOptions } from './overload.ts'
import { policyName, type RateLimitPolicy } from './policy.ts'
import type { RateLimitStore } from './store.ts'

const limitNames = { limit: true, windowSeconds: true } as const

/** The description of {@link RateLimitingOptions}. @readme */
export const rateLimitingOptions = describeOptions('rate-limiting', {
  /**
   * Returns the client of a request, after authentication; `undefined` for anonymous requests. Called more than once per request.
   * Without it, requests are counted by address only.
   */
  client: callback<(request: FastifyRequest) => Client | undefined>('returns the client'),
  /** The limit for all requests from one address, including unknown URLs and rejected credentials; `false`: none. */
  addressLimit: value<Limit | false>({ default: { limit: 1200, windowSeconds: 60 }, names: limitNames }),
  /** The limit for all requests of one client, from any address; `false`: none. By default 600 in 60 s, if `client` is set. */
  clientLimit: value<Limit | false>({ names: limitNames }),
  /** Limits in place of `clientLimit`, by the `tier` that `client` returns. */
  tiers: value<Readonly<Record<string, Limit>>>({ default: {}, names: { '*': limitNames } }),
  /** The prefix length for IPv6 addresses, in bits: addresses with the same prefix count as one address. */
  ipv6PrefixLength: integer({ default: 64, min: 16, max: 128 }),
  /** The maximum number of keys in memory, for all limits together. Beyond that, the keys that were idle longest are removed. */
  maxKeys: integer({ default: 50_000, min: 100, max: 10_000_000 }),
  /** The store that counts for all processes, for example `redisRateLimitStore` or `postgresRateLimitStore`. By default each process counts alone. */
  store: instance<RateLimitStore>(['add'], 'RateLimitStore with its method add(), for example memoryRateLimitStore()'),
  /** The timeout for each call of `store`. */
  storeTimeoutSeconds: duration({ default: 0.25, min: 0.001, max: 10 }),
  /** While `store` fails or times out: `countLocally` enforces the limits in each process alone, `refuse` responds with 503. */
  whenStoreFails: oneOf(['countLocally', 'refuse'], { default: 'countLocally' }),
  /**
   * When the process refuses requests with 503 `SERVICE_OVERLOADED`, before anything else is done for them, because it has too much to do; `false`:
   * never.
   */
  overload: orFalse(group(overloadOptions))
})

/** Options of `@concordat/rate-limiting`. */
export interface RateLimitingOptions extends OptionsOf<typeof rateLimitingOptions> {}

/** The options with defaults applied. */
export interface Settings {
  readonly client: ((request: FastifyRequest) => Client | undefined) | undefined
  readonly addressPolicy: RateLimitPolicy | undefined
  readonly clientPolicy: RateLimitPolicy | undefined
  readonly tierPolicies: readonly (RateLimitPolicy & { readonly tier: string })[]
  readonly ipv6PrefixLength: number
  readonly maxKeys: number
  readonly store: RateLimitStore | undefined
  readonly storeGuard: StoreGuard
  readonly overload: OverloadSettings | false
}

/** Returns the options with defaults applied. Throws a `TypeError` of one line for invalid options. */
export function resolveOptions(options: RateLimitingOptions): Settings {
  const { addressLimit, clientLimit, tiers, storeTimeoutMs, whenStoreFails, ...settings } = rateLimitingOptions.readPlugin(options)
  const { client, overload } = settings
  if (client === undefined && (clientLimit || Object.keys(tiers).length > 0)) {
    throw new TypeError('rate-limiting: options.clientLimit and options.tiers require options.client. Set options.client too.')
  }
  if (overload) optionChecks('rate-limiting').integer('options.overload.maxInFlight', overload.maxInFlight, overload.minInFlight, 1e6)
  return {
    ...settings,
    addressPolicy: policyOf('address', 'options.addressLimit', addressLimit),
    clientPolicy: client && policyOf('client', 'options.clientLimit', clientLimit ?? { limit: 600, windowSeconds: 60 }),
    tierPolicies: Object.entries(tiers).map(tierPolicy),
    storeGuard: { timeoutMs: storeTimeoutMs, whenItFails: whenStoreFails }
  }
}

function policyOf(scope: 'address' | 'client', option: string, limit: Limit | false): RateLimitPolicy | undefined {
  return limit === false ? undefined : { name: scope, scope, ...requireLimit(option, limit) }
}

function tierPolicy([tier, limit]: [string, Limit]) {
  if (!policyName.test(tier) || tier === 'address' || tier === 'client') {
    throw new TypeError(
      `rate-limiting: options.tiers contains the invalid name "${tier}". Use lower case with hyphens; "address" and "client" are reserved.`
    )
  }
  return { name: tier, scope: 'client' as const, tier, ...requireLimit(`options.tiers.${tier}`, limit) }
}
