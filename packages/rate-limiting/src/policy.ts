import type { Limit } from './limit.ts'

/** Whose requests are counted together: those from one address, or those of one client. */
export type RateLimitScope = 'address' | 'client'

/** One limit as it is published. */
export interface RateLimitPolicy extends Limit {
  /** What it is called in `RateLimit-Policy` and `RateLimit`. */
  readonly name: string
  readonly scope: RateLimitScope
  /** The tier of clients that it is for, when it is not for all. */
  readonly tier?: string
}

/** Names that a group or a tier can have: they need no quoting in a field or in a key. */
export const policyName: RegExp = /^[a-z][a-z0-9-]{0,63}$/

/** The member of `RateLimit-Policy`: `"address";q=1200;w=60`. */
export function quotaItem({ name, limit, windowSeconds }: RateLimitPolicy): string {
  return `"${name}";q=${limit};w=${windowSeconds}`
}
