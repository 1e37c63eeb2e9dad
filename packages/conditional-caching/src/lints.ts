import type { RouteLint } from '@concordat/plugin-kit/findings'
import type { CachePolicy } from './cache-policy.ts'

/** The part of a route that a lint reads; Fastify's route options satisfy it. */
export interface LintedRoute {
  readonly method: string | readonly string[]
  /** The full path of the route, including its prefixes. */
  readonly url: string
  readonly config?: { readonly cache?: CachePolicy | undefined; readonly permissions?: unknown } | undefined
}

/** The lints that check the caching settings of routes. */
export const lints: readonly RouteLint<LintedRoute>[] = [
  { id: 'C3', check: publicForEveryone },
  { id: 'C5', check: writesAreNotKept }
]

function publicForEveryone({ config }: LintedRoute) {
  if (config?.permissions === undefined || !isShared(config.cache)) return undefined
  return 'it requires permissions, so shared caches must not store its responses, but its policy is public. Set config.cache to "private".'
}

function writesAreNotKept({ method, config }: LintedRoute) {
  if (![method].flat().includes('POST') || config?.cache === undefined || config.cache === 'no-store') return undefined
  return 'responses to POST are not cacheable by default. Remove config.cache, or waive this rule with a reason if the POST is a search.'
}

function isShared(cache: CachePolicy | undefined) {
  return cache === 'public' || (typeof cache === 'object' && (cache.public || cache.sMaxAgeSeconds !== undefined))
}
