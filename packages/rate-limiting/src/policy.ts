import type { Limit } from './limit.ts'

/** Whether requests are counted by their address or by their client. */
export type RateLimitScope = 'address' | 'client'

/** A published limit. */
export interface RateLimitPolicy extends Limit {
  /** Its name in `RateLimit-Policy` and `RateLimit`. */
  readonly name: string
  readonly scope: RateLimitScope
  /** The tier of clients to which it applies; absent if it applies to all. */
  readonly tier?: string | undefined
}

/** The pattern of the names of groups and tiers, which need no quotes in a header or a key. */
export const policyName: RegExp = /^[a-z][a-z0-9-]{0,63}$/

/** Returns the member of `RateLimit-Policy`, for example `"address";q=1200;w=60`. */
export function quotaItem({ name, limit, windowSeconds }: RateLimitPolicy): string {
  return `"${name}";q=${limit};w=${windowSeconds}`
}
