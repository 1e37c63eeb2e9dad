import type { RouteOptions } from 'fastify'
import { type CacheControl, cacheControl, unkept } from './cache-policy.ts'
import { isRead, isWrite } from './method.ts'
import type { ResolvedOptions } from './options.ts'
import type { ValidatorFunction } from './validator.ts'

/** What a route says about caching and preconditions, checked. */
export interface RouteSettings {
  readonly reads: boolean
  readonly writes: boolean
  readonly validator: ValidatorFunction | undefined
  readonly requireIfMatch: boolean
  readonly policyOf: (method: string) => CacheControl
}

/** Reads the settings of a route. Throws a `TypeError` of one line for those that make no sense. */
export function routeSettings(route: Pick<RouteOptions, 'method' | 'url' | 'config'>, options: ResolvedOptions): RouteSettings {
  const methods = [route.method].flat()
  const name = `${methods.join(', ')} ${route.url}`
  const refuse = (fault: string) => {
    throw new TypeError(`conditional-caching: ${name} ${fault}`)
  }
  const { cache, validator, requireIfMatch = false } = route.config ?? {}
  const reads = methods.some(isRead)
  const writes = methods.some(isWrite)
  if (validator !== undefined && typeof validator !== 'function') refuse(`has a validator that is a ${typeof validator}. Give a function.`)
  if (typeof requireIfMatch !== 'boolean') refuse(`has requireIfMatch: ${String(requireIfMatch)}. Give true or false.`)
  if (requireIfMatch && !writes) refuse('has requireIfMatch, but changes nothing. Set it on PUT, PATCH, DELETE or POST.')
  if (requireIfMatch && validator === undefined) refuse('has requireIfMatch and no validator to compare with. Give config.validator.')
  if (requireIfMatch && options.isWeak && !options.takesWeak) {
    refuse("has requireIfMatch, which weak tags never fulfil. Set the option ifMatch: 'opaque', or let tags be strong.")
  }
  const own = cache === undefined ? undefined : cacheControl(cache, options.publicMaxAgeSeconds, `the cache of ${name}`)
  // RFC 9110 §9.2.3: no cache keeps the answer to any other method.
  if (own?.isKept && !reads && !methods.includes('POST')) refuse('has a cache policy, but no cache keeps its answers. Leave it out.')
  const readPolicy = own ?? options.defaultPolicy
  // On a route with GET, the policy is about GET (rule C5).
  const otherPolicy = (reads ? undefined : own) ?? unkept
  return { reads, writes, validator, requireIfMatch, policyOf: (method) => (isRead(method) ? readPolicy : otherPolicy) }
}
