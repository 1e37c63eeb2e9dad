import type { Limit } from './limit.ts'

/** Whether requests are counted by their address or by their client. */
export type RateLimitScope = 'address' | 'client'

/** A limit as it is published in headers and API descriptions. */
export interface RateLimitPolicy extends Limit {
  /** The name of the limit in the headers `RateLimit-Policy` and `RateLimit`. */
  readonly name: string
  readonly scope: RateLimitScope
  /** The client tier to which the limit applies; absent if it applies to all clients. */
  readonly tier?: string | undefined
}

/** The pattern of the names of groups and tiers, which need no quotes in a header or a key. */
export const policyName: RegExp = /^[a-z][a-z0-9-]{0,63}$/

/** Returns the list member for a limit in the `RateLimit-Policy` header, for example `"address";q=1200;w=60`. */
export function quotaItem({ name, limit, windowSeconds }: RateLimitPolicy): string {
  return `"${name}";q=${limit};w=${windowSeconds}`
}
