import { type Limit, requireLimit } from './limit.ts'
import { policyName, type RateLimitPolicy, type RateLimitScope } from './policy.ts'

/** `config.rateLimit` of a route that only costs more than others. */
export interface CostOnly {
  /**
   * As how many requests one is counted, by every limit that it meets. From 1 to 100.
   * @default 1
   */
  readonly cost: number
}

/** `config.rateLimit` of a route with a limit of its own. It holds beside the general ones, so it can only be stricter. */
export interface RouteLimit extends Limit, Partial<CostOnly> {
  /**
   * Whether requests are counted per address, before authentication, or per client, after it. Who is not identified is counted by address.
   * @default 'client' where the plugin has the option `client`, else 'address'
   */
  readonly scope?: RateLimitScope | undefined
  /**
   * Routes with the same group share one count. It is also the name of the limit in the fields. Lower case, as `exports`.
   * @default the method and path of the route, alone
   */
  readonly group?: string | undefined
}

/** The settings of a route, checked. */
export interface RouteSettings {
  readonly cost: number
  readonly policy?: RateLimitPolicy
}

/** What is known of a route, at registration and in a request alike. */
export interface RouteFacts {
  readonly method?: string | readonly string[]
  readonly url?: string
  readonly rateLimit?: unknown
}

const members = new Set(['limit', 'windowSeconds', 'scope', 'group', 'cost'])

/** Reads `config.rateLimit` of a route, which is not `false`. Throws a `TypeError` with one line for what makes no sense. */
export function readRouteLimit(route: RouteFacts, defaultScope: RateLimitScope): RouteSettings {
  const { rateLimit } = route
  const name = nameOf(route)
  if (rateLimit === undefined) return { cost: 1 }
  if (typeof rateLimit !== 'object' || rateLimit === null) {
    throw new TypeError(
      `rate-limiting: ${name} has the rateLimit ${JSON.stringify(rateLimit)}. Give an object, or false for a route that is not counted.`
    )
  }
  const unknown = Object.keys(rateLimit).find((member) => !members.has(member))
  if (unknown !== undefined) {
    throw new TypeError(`rate-limiting: ${name} has the unknown member rateLimit.${unknown}. There are ${[...members].join(', ')}.`)
  }
  const { limit, windowSeconds, scope = defaultScope, group, cost = 1 } = rateLimit as Partial<RouteLimit>
  if (!Number.isInteger(cost) || cost < 1 || cost > 100) {
    throw new TypeError(`rate-limiting: ${name} has the cost ${cost}. Give a whole number from 1 to 100.`)
  }
  if (limit === undefined && windowSeconds === undefined && group === undefined && !('scope' in rateLimit)) return { cost }
  if (scope !== 'address' && scope !== 'client') {
    throw new TypeError(`rate-limiting: ${name} has the scope "${String(scope)}". Give "address" or "client".`)
  }
  if (group !== undefined && !policyName.test(group)) {
    throw new TypeError(`rate-limiting: ${name} has the group "${group}". Write it in lower case with hyphens, as "order-exports".`)
  }
  const numbers = requireLimit(name, { limit: limit as number, windowSeconds: windowSeconds as number })
  return { cost, policy: { name: group ?? name, scope, ...numbers } }
}

/** `GET /orders/:id`; HEAD counts as the GET that it stands for. Fit for a quoted string in a field, whatever the path is. */
function nameOf({ method = [], url = '' }: RouteFacts) {
  const methods = new Set([method].flat().map((one) => (one === 'HEAD' ? 'GET' : one)))
  return `${[...methods].toSorted().join(',')} ${encodeURI(url)}`
}
