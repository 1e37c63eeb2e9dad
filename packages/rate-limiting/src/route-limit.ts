import { optionChecks, requireKnownNames } from '@concordat/plugin-options'
import { type Limit, requireLimit } from './limit.ts'
import { policyName, type RateLimitPolicy, type RateLimitScope } from './policy.ts'

/** `config.rateLimit` of a route with a cost and without its own limit. */
export interface CostOnly {
  /**
   * How many requests one request counts as, for every limit that applies. From 1 to 100.
   * @default 1
   */
  readonly cost: number
}

/** `config.rateLimit` of a route with its own limit. It applies in addition to the general ones, so it can only be stricter. */
export interface RouteLimit extends Limit, Partial<CostOnly> {
  /**
   * Whether requests are counted per address, before authentication, or per client, after it. Anonymous requests count by address.
   * @default 'client' if the option `client` of the plugin is set, otherwise 'address'
   */
  readonly scope?: RateLimitScope | undefined
  /**
   * The group of the route: routes with the same group share one count. It is also the name of the limit in the headers. Lower case, for example
   * `exports`.
   * @default the method and path of the route, which shares its count with no other route
   */
  readonly group?: string | undefined
}

/** The validated rate limit settings of a route. */
export interface RouteSettings {
  readonly cost: number
  readonly policy?: RateLimitPolicy | undefined
}

/** The properties of a route that are known both at registration and in a request. */
export interface RouteFacts {
  readonly method?: string | readonly string[] | undefined
  readonly url?: string | undefined
  readonly rateLimit?: unknown
  /** `config.directAccess` of transport-security, which marks health checks. */
  readonly directAccess?: unknown
}

const { integer, oneOf } = optionChecks('rate-limiting')

/** Returns the validated settings from `config.rateLimit` of a route that is not exempt. Throws a `TypeError` of one line for invalid settings. */
export function readRouteLimit(route: RouteFacts, defaultScope: RateLimitScope): RouteSettings {
  const { rateLimit } = route
  const name = nameOf(route)
  const path = `${name}: config.rateLimit`
  if (rateLimit === undefined) return { cost: 1 }
  if (typeof rateLimit !== 'object' || rateLimit === null) {
    throw new TypeError(`rate-limiting: ${path} must be an object, or false to exempt the route, but is ${JSON.stringify(rateLimit)}.`)
  }
  requireKnownNames(
    'rate-limiting',
    rateLimit as RouteLimit,
    { limit: true, windowSeconds: true, scope: true, group: true, cost: true },
    path
  )
  const { limit, windowSeconds, scope = defaultScope, group, cost = 1 } = rateLimit as Partial<RouteLimit>
  integer(`${path}.cost`, cost, 1, 100)
  if (limit === undefined && windowSeconds === undefined && group === undefined && !('scope' in rateLimit)) return { cost }
  oneOf(`${path}.scope`, scope, ['address', 'client'])
  if (group !== undefined && !policyName.test(group)) {
    throw new TypeError(`rate-limiting: ${path}.group must be in lower case with hyphens, such as "exports", but is "${group}".`)
  }
  const numbers = requireLimit(path, { limit: limit as number, windowSeconds: windowSeconds as number })
  return { cost, policy: { name: group ?? name, scope, ...numbers } }
}

/**
 * Returns the name of a route, for example `GET /orders/:id`; HEAD counts as GET. The result is valid in a quoted string of a header for any path.
 */
function nameOf({ method = [], url = '' }: RouteFacts) {
  const methods = new Set([method].flat().map((one) => (one === 'HEAD' ? 'GET' : one)))
  return `${[...methods].toSorted().join(',')} ${encodeURI(url)}`
}
