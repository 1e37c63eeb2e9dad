import {
  callback,
  describeOptions,
  duration,
  group,
  instance,
  integer,
  number,
  type OptionsOf,
  oneOf,
  optionChecks,
  orFalse,
  type SettingsOf,
  value
} from '@concordat/plugin-kit/options'
import type { FastifyRequest } from 'fastify'
import type { Client } from './client-key.ts'
import { type Limit, policyName, type RateLimitPolicy, readLimit } from './limit.ts'
import type { RateLimitStore } from './store.ts'

/** When a process refuses requests because it has too much to do. */
export const overloadOptions = describeOptions('rate-limiting', {
  /** How late the event loop may be. While it is later, fewer requests are accepted at a time. Operators raise it while requests are refused without need. */
  maxEventLoopDelayMs: number({ default: 50, min: 1, max: 60_000 }),
  /** How many requests in flight are always accepted. Operators raise it while requests are refused without need. */
  minInFlight: integer({ default: 50, min: 1, max: 1e6 }),
  /** The maximum number of requests in flight. Raise it for requests that mostly wait for other services. Operators lower it while the process runs out of memory. */
  maxInFlight: integer({ default: 1000, min: 1, max: 1e6 })
})

/** The overload options with defaults applied. */
export type OverloadSettings = SettingsOf<(typeof overloadOptions)['members']>

/** The description of {@link RateLimitingOptions}. @readme */
export const rateLimitingOptions = describeOptions('rate-limiting', {
  /** Returns the client of a request, after authentication; `undefined` for anonymous requests. */
  client: callback<(request: FastifyRequest) => Client | undefined>('returns the client'),
  /** The limit of an address, including unknown URLs and rejected credentials; `false`: none. */
  addressLimit: value<Limit | false>({ default: { limit: 1200, windowSeconds: 60 } }),
  /** The limit of a client, from any address; `false`: none. By default 600 in 60 s, if `client` is set. */
  clientLimit: value<Limit | false>(),
  /** Limits in place of `clientLimit`, by the `tier` that `client` returns. */
  tiers: value<Readonly<Record<string, Limit>>>({ default: {}, names: { '*': { limit: true, windowSeconds: true } } }),
  /** The store that counts for all processes. By default, each process counts alone. */
  store: instance<RateLimitStore>(['add'], 'RateLimitStore with its method add(), for example memoryRateLimitStore()'),
  /** How long a call of `store` may take before it counts as failed. Operators raise it while the store is slow. */
  storeTimeoutSeconds: duration({ default: 0.25, min: 0.001, max: 10 }),
  /** While `store` fails: `countLocally` enforces the limits in each process alone, `refuse` responds with 503. Operators change it while the store is down. */
  whenStoreFails: oneOf(['countLocally', 'refuse'], { default: 'countLocally' }),
  /** When requests are refused with 503 because the process has too much to do; `false`: never. Operators turn it off while it refuses requests without need. */
  overload: orFalse(group(overloadOptions))
})

/** Options of `@concordat/rate-limiting`. */
export interface RateLimitingOptions extends OptionsOf<typeof rateLimitingOptions> {}

/** The options with defaults applied. */
export interface Settings {
  readonly client: ((request: FastifyRequest) => Client | undefined) | undefined
  readonly addressPolicy: RateLimitPolicy | undefined
  readonly clientPolicy: RateLimitPolicy | undefined
  readonly tierPolicies: readonly RateLimitPolicy[]
  readonly store: RateLimitStore | undefined
  readonly storeTimeoutMs: number
  readonly whenStoreFails: 'countLocally' | 'refuse'
  readonly overload: OverloadSettings | false
}

/** Returns the options with defaults applied. Throws a `TypeError` of one line for invalid options. */
export function resolveOptions(options: RateLimitingOptions): Settings {
  const { addressLimit, clientLimit, tiers, ...settings } = rateLimitingOptions.readPlugin(options)
  const { client, overload } = settings
  const clientPolicy = policyOf('client', 'options.clientLimit', clientLimit ?? { limit: 600, windowSeconds: 60 })
  const tierPolicies = Object.entries(tiers).map(tierPolicy)
  if (client === undefined && (clientLimit || tierPolicies.length > 0)) {
    throw new TypeError('rate-limiting: options.clientLimit and options.tiers require options.client. Set options.client too.')
  }
  if (overload) optionChecks('rate-limiting').integer('options.overload.maxInFlight', overload.maxInFlight, overload.minInFlight, 1e6)
  const addressPolicy = policyOf('address', 'options.addressLimit', addressLimit)
  return { ...settings, addressPolicy, clientPolicy: client && clientPolicy, tierPolicies }
}

function policyOf(scope: 'address' | 'client', path: string, limit: Limit | false): RateLimitPolicy | undefined {
  return limit === false ? undefined : { name: scope, scope, ...readLimit(limit, path) }
}

function tierPolicy([tier, limit]: [string, Limit]): RateLimitPolicy {
  if (!policyName.test(tier) || tier === 'address' || tier === 'client') {
    throw new TypeError(
      `rate-limiting: options.tiers contains the invalid name "${tier}". Use lower case with hyphens; "address" and "client" are reserved.`
    )
  }
  return { name: tier, scope: 'client', tier, ...readLimit(limit, `options.tiers.${tier}`) }
}
