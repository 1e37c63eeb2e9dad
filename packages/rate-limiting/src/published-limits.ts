import type { RateLimitPolicy } from './policy.ts'

/** The published limits of a route. */
export interface RateLimits {
  /** How many requests one request counts as. */
  readonly cost: number
  /** Every limit that can apply to a request. Of the limits with a `tier` and the general client limit, one applies to a client. */
  readonly policies: readonly RateLimitPolicy[]
}

const publishedKey: unique symbol = Symbol.for('concordat.rateLimits')

/** Returns a copy of a route's config to which the published limits are added. */
export function withPublished<Config extends object>(config: Config | undefined, limits: RateLimits | undefined): Config {
  return { ...config, [publishedKey]: limits } as unknown as Config
}

/**
 * Returns the limits of a route that was registered after the plugin, from its options in `onRoute` or from `request.routeOptions`;
 * `undefined` for a route that is not counted.
 */
export function rateLimitsOf(route: { readonly config?: object | undefined }): RateLimits | undefined {
  const config: { [publishedKey]?: RateLimits | undefined } | undefined = route.config
  return config?.[publishedKey]
}
