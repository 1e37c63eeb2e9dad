import { optionChecks, requirePluginNames } from '@concordat/plugin-options'
import type { FastifyRequest } from 'fastify'
import type { Client } from './client-key.ts'
import type { StoreGuard } from './guarded-store.ts'
import { type Limit, requireLimit } from './limit.ts'
import { type OverloadOptions, type OverloadSettings, requireOverload } from './overload.ts'
import { policyName, type RateLimitPolicy } from './policy.ts'
import type { RateLimitStore } from './store.ts'

/** Options of `@concordat/rate-limiting`. */
export interface RateLimitingOptions {
  /**
   * Returns the client of a request, after authentication; `undefined` for anonymous requests. Called more than once per request.
   * Without it, requests are counted by address only.
   */
  readonly client?: ((request: FastifyRequest) => Client | undefined) | undefined
  /**
   * The limit for all requests from one address, including unknown URLs and rejected credentials; `false` for no such limit.
   * @default { limit: 1200, windowSeconds: 60 }
   */
  readonly addressLimit?: Limit | false | undefined
  /**
   * The limit for all requests of one client, from any address; `false` for no such limit.
   * @default { limit: 600, windowSeconds: 60 }, if `client` is set
   */
  readonly clientLimit?: Limit | false | undefined
  /**
   * Limits in place of `clientLimit`, by the `tier` that `client` returns.
   * @default {}
   */
  readonly tiers?: Readonly<Record<string, Limit>> | undefined
  /**
   * The prefix length for IPv6 addresses, in bits: addresses with the same prefix count as one address.
   * @default 64
   */
  readonly ipv6PrefixLength?: number | undefined
  /**
   * The maximum number of keys in memory, for all limits together. Beyond that, the keys that were idle longest are removed.
   * @default 50000
   */
  readonly maxKeys?: number | undefined
  /**
   * The store that counts for all processes, for example `redisRateLimitStore` of `@concordat/redis` or `postgresRateLimitStore` of
   * `@concordat/postgres`.
   * @default each process counts alone, in memory
   */
  readonly store?: RateLimitStore | undefined
  /**
   * The timeout for each call of `store`.
   * @default 0.25
   */
  readonly storeTimeoutSeconds?: number | undefined
  /**
   * The behavior while `store` fails or times out: `countLocally` enforces the limits in each process alone, `refuse` responds with
   * 503 `RATE_LIMIT_UNAVAILABLE`. The beginning and the end of an outage are logged.
   * @default 'countLocally'
   */
  readonly whenStoreFails?: 'countLocally' | 'refuse' | undefined
  /**
   * When the process refuses requests with 503 `SERVICE_OVERLOADED`, before anything else is done for them, because it has too much to do; `false`
   * for never.
   * @default {}
   */
  readonly overload?: OverloadOptions | false | undefined
}

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
  readonly overload: OverloadSettings | undefined
}

const { integer, number, oneOf } = optionChecks('rate-limiting')

/** Returns the options with defaults applied. Throws a `TypeError` of one line for invalid options. */
export function resolveOptions(options: RateLimitingOptions): Settings {
  requirePluginNames('rate-limiting', options, {
    client: true,
    addressLimit: { limit: true, windowSeconds: true },
    clientLimit: { limit: true, windowSeconds: true },
    tiers: { '*': { limit: true, windowSeconds: true } },
    ipv6PrefixLength: true,
    maxKeys: true,
    store: true,
    storeTimeoutSeconds: true,
    whenStoreFails: true,
    overload: { maxEventLoopDelayMs: true, minInFlight: true, maxInFlight: true }
  })
  const { client, addressLimit, clientLimit, tiers = {}, store, whenStoreFails = 'countLocally', overload = {} } = options
  if (client !== undefined && typeof client !== 'function') {
    throw new TypeError(`rate-limiting: options.client must be a function that returns the client, but its type is ${typeof client}.`)
  }
  if (client === undefined && (clientLimit || Object.keys(tiers).length > 0)) {
    throw new TypeError('rate-limiting: options.clientLimit and options.tiers require options.client. Set options.client too.')
  }
  if (store !== undefined && typeof store?.add !== 'function') {
    throw new TypeError(
      'rate-limiting: options.store must implement RateLimitStore with its method add(), for example memoryRateLimitStore().'
    )
  }
  return {
    client,
    addressPolicy: policyOf('address', 'options.addressLimit', addressLimit ?? { limit: 1200, windowSeconds: 60 }),
    clientPolicy: client && policyOf('client', 'options.clientLimit', clientLimit ?? { limit: 600, windowSeconds: 60 }),
    tierPolicies: Object.entries(tiers).map(tierPolicy),
    ipv6PrefixLength: integer('options.ipv6PrefixLength', options.ipv6PrefixLength ?? 64, 16, 128),
    maxKeys: integer('options.maxKeys', options.maxKeys ?? 50_000, 100, 10_000_000),
    store,
    storeGuard: {
      timeoutMs: number('options.storeTimeoutSeconds', options.storeTimeoutSeconds ?? 0.25, 0.001, 10) * 1000,
      whenItFails: oneOf('options.whenStoreFails', whenStoreFails, ['countLocally', 'refuse'])
    },
    overload: overload === false ? undefined : requireOverload(overload)
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
