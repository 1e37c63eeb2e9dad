import type { RoutePolicy } from './route-policy.ts'

/** The part of a route's idempotency policy that is published in API descriptions. */
export interface PublishedIdempotency {
  readonly isRequired: boolean
  /** How long a retry gets the response of the first request. */
  readonly lifetimeSeconds: number
  /** How long a retry waits for a request that is still in progress. */
  readonly waitSeconds: number
}

const policyKey: unique symbol = Symbol.for('concordat.idempotency')

/** Returns the config of a route with its policy added. */
export function withPolicy<Config extends object>(config: Config | undefined, policy: RoutePolicy): Config {
  return { ...config, [policyKey]: policy } as unknown as Config
}

/**
 * Returns the published idempotency policy of a route, or `undefined` for a route that does not accept keys. Takes the route options that
 * `onRoute` receives, or `request.routeOptions`, of a route that was registered after the plugin.
 */
export function idempotencyOf(route: { readonly config?: object | undefined }): PublishedIdempotency | undefined {
  const config: { [policyKey]?: PublishedIdempotency | undefined } | undefined = route.config
  return config?.[policyKey]
}
