import { optionChecks } from '@concordat/plugin-options'
import type { RouteOptions } from 'fastify'
import { type CacheControl, cacheControl, noStore } from './cache-policy.ts'
import { isRead, isWrite } from './method.ts'
import type { ResolvedOptions } from './options.ts'
import type { ValidatorFunction } from './validator.ts'

/** The validated caching and precondition settings of a route. */
export interface RouteSettings {
  readonly reads: boolean
  readonly writes: boolean
  readonly validator: ValidatorFunction | undefined
  readonly requireIfMatch: boolean
  readonly policyOf: (method: string) => CacheControl
}

const { oneOf } = optionChecks('conditional-caching')

/** Returns the settings of a route. Throws a `TypeError` that names the route and the first invalid setting. */
export function routeSettings(route: Pick<RouteOptions, 'method' | 'url' | 'config'>, options: ResolvedOptions): RouteSettings {
  const methods = [route.method].flat()
  const name = `${methods.join(', ')} ${route.url}`
  const refuse = (fault: string) => {
    throw new TypeError(`conditional-caching: ${name}: ${fault}`)
  }
  const { cache, validator, requireIfMatch = false } = route.config ?? {}
  const reads = methods.some(isRead)
  const writes = methods.some(isWrite)
  if (validator !== undefined && typeof validator !== 'function')
    refuse(`config.validator must be a function, but its type is ${typeof validator}.`)
  oneOf(`${name}: config.requireIfMatch`, requireIfMatch, [true, false])
  if (requireIfMatch && !writes) refuse('config.requireIfMatch is allowed only on PUT, PATCH, DELETE and POST. Remove it.')
  if (requireIfMatch && validator === undefined) refuse('config.requireIfMatch requires a validator to compare with. Set config.validator.')
  if (requireIfMatch && options.isWeak && !options.takesWeak) {
    refuse('config.requireIfMatch cannot be used with weak tags. Set options.ifMatch to "opaque" or options.strength to "strong".')
  }
  const own = cache === undefined ? undefined : cacheControl(cache, options.publicMaxAgeSeconds, `${name}: config.cache`)
  // RFC 9110 §9.2.3: caches do not store responses to other methods.
  if (own?.isStored && !reads && !methods.includes('POST'))
    refuse('config.cache has no effect, because caches do not store responses to this method. Remove it.')
  const readPolicy = own ?? options.defaultPolicy
  // On a route with GET, the policy applies to GET (rule C5).
  const otherPolicy = (reads ? undefined : own) ?? noStore
  return { reads, writes, validator, requireIfMatch, policyOf: (method) => (isRead(method) ? readPolicy : otherPolicy) }
}
