import type { CachePolicy } from './cache-policy.ts'

/** What a lint reads of a route: Fastify's route options have it all. */
export interface LintedRoute {
  readonly method: string | readonly string[]
  /** The whole path, prefixes included. */
  readonly url: string
  readonly config?: { readonly cache?: CachePolicy; readonly permissions?: unknown } | undefined
}

/** One rule about routes. */
export interface Lint {
  /** The rule's id, by which a route may waive it. */
  readonly id: string
  /** Says what is wrong and how to mend it; `undefined` when nothing is. */
  readonly check: (route: LintedRoute) => string | undefined
}

/** The rules about caching that a route is checked against. */
export const lints: readonly Lint[] = [
  { id: 'C3', check: publicForEveryone },
  { id: 'C5', check: writesAreNotKept }
]

function publicForEveryone({ config }: LintedRoute) {
  if (config?.permissions === undefined || !isShared(config.cache)) return undefined
  return 'it asks for permissions, so no shared cache may keep its answers, yet its cache policy is public. Make it "private".'
}

function writesAreNotKept({ method, config }: LintedRoute) {
  if (![method].flat().includes('POST') || config?.cache === undefined || config.cache === 'no-store') return undefined
  return 'answers to POST are not kept. Remove its cache policy; a search that reads by POST waives this rule with its reason.'
}

function isShared(cache: CachePolicy | undefined) {
  return cache === 'public' || (typeof cache === 'object' && (cache.public || cache.sMaxAgeSeconds !== undefined))
}
