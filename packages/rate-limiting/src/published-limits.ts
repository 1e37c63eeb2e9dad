import type { RateLimitPolicy } from './policy.ts'

/** What a route's callers are told of its limits. */
export interface RateLimits {
  /** As how many requests one is counted. */
  readonly cost: number
  /** Every limit that a request may meet. Of those with a `tier` and the general one of clients, a client meets one. */
  readonly policies: readonly RateLimitPolicy[]
}

const publishedKey: unique symbol = Symbol.for('concordat.rateLimits')

/** The config of a route with its limits in it. */
export function withPublished<Config extends object>(config: Config | undefined, limits: RateLimits | undefined): Config {
  return { ...config, [publishedKey]: limits } as unknown as Config
}

/**
 * The limits of a route that was registered after the plugin, from its options as `onRoute` gets them or from `request.routeOptions`;
 * `undefined` for one that is not counted.
 */
export function rateLimitsOf(route: { readonly config?: object | undefined }): RateLimits | undefined {
  const config: { [publishedKey]?: RateLimits } | undefined = route.config
  return config?.[publishedKey]
}
