import { describeOptions, integer, type OptionsOf, oneOf, required, value } from '@concordat/plugin-kit/options'

/** The description of a {@link Limit}. */
const limitOptions = describeOptions('rate-limiting', {
  /** The maximum number of requests in a window. */
  limit: required(integer({ min: 1, max: 1e9 })),
  /** The length of a window, at most 31 days; from 1000 s on in whole minutes, hours or days. */
  windowSeconds: required(integer({ min: 1 }))
})

/** A number of requests per window. */
export interface Limit extends OptionsOf<typeof limitOptions> {}

/** A limit as it is published in headers and API descriptions. */
export interface RateLimitPolicy extends Limit {
  /** The name of the limit in the headers `RateLimit-Policy` and `RateLimit`. */
  readonly name: string
  readonly scope: 'address' | 'client'
  /** The client tier to which the limit applies; absent if it applies to all clients. */
  readonly tier?: string | undefined
}

/** The pattern of the names of groups and tiers, which need no quotes in a header or a key. */
export const policyName: RegExp = /^[a-z][a-z0-9-]{0,63}$/

// The description of a service publishes what this makes of the headers, which have three limits at most.
const maxNameLength = 256

/** Returns a valid limit. Throws a `TypeError` of one line that names the option at `path`. */
export function readLimit(limit: Limit, path: string): Limit {
  return withWholeWindow(limitOptions.read(limit, path), path)
}

const costOptions = describeOptions('rate-limiting', {
  /** How many requests one request counts as, for every limit. It may be the only member. */
  cost: integer({ default: 1, min: 1, max: 100 })
})

/** The description of a {@link RouteLimit}. @readme */
export const routeLimitOptions = describeOptions('rate-limiting', {
  ...limitOptions.members,
  /** What is counted. By default `client` if the plugin has that option. */
  scope: oneOf(['address', 'client'], {}),
  /** Routes of one group share a count, for example `exports`. By default method and path. */
  group: value<string>(),
  ...costOptions.members
})

/** `config.rateLimit` of a route with its own limit. It applies in addition to the general ones, so it can only be stricter. */
export interface RouteLimit extends OptionsOf<typeof routeLimitOptions> {}

/**
 * The limit for routes that check a secret, such as login and password reset: 20 attempts a minute from one address, for all such routes together,
 * counted before the secret is checked. Against guessing from many addresses, limit the attempts per account too.
 */
export const credentialLimit: RouteLimit = Object.freeze({ limit: 20, windowSeconds: 60, scope: 'address', group: 'credentials' })

/** The properties of a route that are known both at registration and in a request. */
export interface RouteFacts {
  readonly method?: string | readonly string[] | undefined
  readonly url?: string | undefined
  readonly rateLimit?: unknown
  /** `config.directAccess` of transport-security, which marks health checks. */
  readonly directAccess?: unknown
}

/** Returns the cost and the own limit of a route that is not exempt. Throws a `TypeError` of one line for an invalid config. */
export function readRouteLimit(route: RouteFacts, defaultScope: RateLimitPolicy['scope']): { cost: number; policy?: RateLimitPolicy } {
  const { rateLimit } = route
  const ownName = nameOf(route)
  const path = `${ownName}: config.rateLimit`
  if (rateLimit === undefined) return { cost: 1 }
  if (typeof rateLimit !== 'object' || rateLimit === null) {
    throw new TypeError(`rate-limiting: ${path} must be an object, or false to exempt the route, but is ${JSON.stringify(rateLimit)}.`)
  }
  if (Object.keys(rateLimit).every((name) => name === 'cost')) return costOptions.read(rateLimit, path)
  const { cost, group, scope = defaultScope, ...limit } = routeLimitOptions.read(rateLimit as RouteLimit, path)
  if (group !== undefined && !policyName.test(group)) {
    throw new TypeError(`rate-limiting: ${path}.group must be in lower case with hyphens, such as "exports", but is "${group}".`)
  }
  if (group === undefined && ownName.length > maxNameLength)
    throw new TypeError(
      `rate-limiting: ${path} needs a group, because the path of the route has more than ${maxNameLength} characters. Add one.`
    )
  return { cost, policy: withWholeWindow({ name: group ?? ownName, scope, ...limit }, path) }
}

/** Returns the name of a route, for example `GET /orders/:id`; HEAD counts as GET. It is valid in a quoted string of a header. */
function nameOf({ method = [], url = '' }: RouteFacts) {
  const methods = new Set([method].flat().map((one) => (one === 'HEAD' ? 'GET' : one)))
  return `${[...methods].toSorted().join(',')} ${encodeURI(url)}`
}

/** Returns the limit. Throws a `TypeError` for a window that is most likely meant in milliseconds. */
function withWholeWindow<Checked extends Limit>(limit: Checked, path: string): Checked {
  const { windowSeconds } = limit
  if (windowSeconds % unitOf(windowSeconds) === 0 && windowSeconds <= 31 * 86_400) return limit
  throw new TypeError(
    `rate-limiting: ${path}.windowSeconds must be a whole number of minutes, hours or days in seconds, at most 31 days, but is ${windowSeconds}.`
  )
}

function unitOf(seconds: number) {
  if (seconds < 1000) return 1
  if (seconds < 3600) return 60
  return seconds < 86_400 ? 3600 : 86_400
}
