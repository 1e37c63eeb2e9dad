import type { FastifyRequest } from 'fastify'
import { type RouteIdempotency, routeIdempotencyOptions, type SharedPolicy } from '../options.ts'
import type { RouteSecrets } from '../stored/secret-members.ts'

/** The part of a route's idempotency policy that is published in API descriptions. */
export interface PublishedIdempotency {
  readonly isRequired: boolean
  /** How long a retry gets the response of the first request. */
  readonly lifetimeSeconds: number
  /** How long a retry waits for a request that is still in progress. */
  readonly waitSeconds: number
}

/** The idempotency policy of a route. */
export interface RoutePolicy extends SharedPolicy, PublishedIdempotency {
  readonly bypassesFailedStore: boolean
  readonly comparedBody: (request: FastifyRequest) => unknown
  /** The secrets in the responses of the route. Their schemas are complete when the server is ready. */
  secrets: RouteSecrets
}

/** The part of the route options that `policyOf` reads. */
export interface RouteFacts {
  readonly method: string | readonly string[]
  readonly url: string
  readonly config?: { readonly idempotency?: unknown } | undefined
}

// PUT and DELETE can be repeated without a key, but only a key tells the own change from that of another client, which makes If-Match fail.
const keyedMethods = ['POST', 'PATCH', 'PUT', 'DELETE']

const policyKey: unique symbol = Symbol.for('concordat.idempotency')

/** Returns the name of a route, for messages. */
export function routeName({ method, url }: { readonly method: unknown; readonly url?: string | undefined }): string {
  return `${String(method)} ${String(url)}`
}

/** Returns the policy of a route, or `undefined` if it does not accept keys. Throws a `TypeError` for an invalid config. */
export function policyOf(route: RouteFacts, general: SharedPolicy): RoutePolicy | undefined {
  const setting = route.config?.idempotency
  if (setting === undefined || setting === 'off') return undefined
  const path = `${routeName(route)}: config.idempotency`
  const own = typeof setting === 'string' ? { key: setting } : setting
  const isObject = typeof own === 'object' && own !== null
  const { key, whenStoreFails, ...policy } = routeIdempotencyOptions.read({ ...general, ...givenIn(isObject ? own : {}) }, path)
  if (key !== 'required' && key !== 'accepted') {
    throw new TypeError(
      `idempotency: ${path} must be "required", "accepted", "off" or an object { key, … }, but is ${JSON.stringify(setting)}.`
    )
  }
  const other = [route.method].flat().find((one) => !keyedMethods.includes(one))
  if (other !== undefined)
    throw new TypeError(`idempotency: ${path} is allowed only on ${keyedMethods.join(', ')}, because ${other} changes nothing. Remove it.`)
  return { ...policy, isRequired: key === 'required', bypassesFailedStore: whenStoreFails !== 'refuse', secrets: new Map() }
}

function givenIn(options: object) {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as unknown as RouteIdempotency
}

/** Returns the config of a route with its policy added. */
export function withPolicy<Config extends object>(config: Config | undefined, policy: RoutePolicy): Config {
  return { ...config, [policyKey]: policy } as unknown as Config
}

/**
 * Returns the published idempotency policy of a route that was registered after the plugin, from its options in `onRoute` or from
 * `request.routeOptions`; `undefined` for a route that does not accept keys.
 */
export function idempotencyOf(route: { readonly config?: object | undefined }): PublishedIdempotency | undefined {
  const config: { [policyKey]?: PublishedIdempotency | undefined } | undefined = route.config
  return config?.[policyKey]
}
