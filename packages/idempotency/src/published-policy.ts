import type { RoutePolicy } from './route-policy.ts'

/** What the callers of a route are told about its keys. */
export interface PublishedIdempotency {
  readonly isRequired: boolean
  /** How long a retry gets the answer of the first request. */
  readonly lifetimeSeconds: number
  /** How long a retry waits for a request that is still being carried out. */
  readonly waitMilliseconds: number
}

const policyKey: unique symbol = Symbol.for('concordat.idempotency')

/** The config of a route with its policy in it. */
export function withPolicy<Config extends object>(config: Config | undefined, policy: RoutePolicy): Config {
  return { ...config, [policyKey]: policy } as unknown as Config
}

/**
 * What a route that was registered after the plugin promises about keys, from its options as `onRoute` gets them or from
 * `request.routeOptions`; `undefined` for one that takes none.
 */
export function idempotencyOf(route: { readonly config?: object | undefined }): PublishedIdempotency | undefined {
  const config: { [policyKey]?: PublishedIdempotency } | undefined = route.config
  return config?.[policyKey]
}
