import { callback, flag } from '@concordat/plugin-kit/options'
import type { RouteOptions } from 'fastify'
import { type CacheControl, cacheControl, noStore } from './cache-policy.ts'
import type { Settings } from './options.ts'
import type { ValidatorFunction } from './validator.ts'

/** The validated caching and precondition settings of a route. */
export interface RouteSettings {
  readonly reads: boolean
  readonly writes: boolean
  /** Whether the route has no methods except GET and HEAD. */
  readonly isReadOnly: boolean
  readonly validator: ValidatorFunction | undefined
  readonly requireIfMatch: boolean
  readonly policyOf: (method: string) => CacheControl
}

const validatorOption = callback<ValidatorFunction>('returns { exists, etag?, lastModified? }')
const requiredOption = flag()

/** Returns the settings of a route. Throws a `TypeError` that names the route and the first invalid setting. */
export function routeSettings(route: Pick<RouteOptions, 'method' | 'url' | 'config'>, { defaultPolicy }: Settings): RouteSettings {
  const methods = [route.method].flat()
  const name = `${methods.join(', ')} ${route.url}`
  const refuse = (fault: string) => {
    throw new TypeError(`conditional-caching: ${name}: ${fault}`)
  }
  const { cache, validator, requireIfMatch = false } = route.config ?? {}
  const reads = methods.some(isRead)
  const writes = methods.some(isWrite)
  validatorOption.read('conditional-caching', `${name}: config.validator`, validator)
  requiredOption.read('conditional-caching', `${name}: config.requireIfMatch`, requireIfMatch)
  if (requireIfMatch && !writes) refuse('config.requireIfMatch is allowed only on PUT, PATCH, DELETE and POST. Remove it.')
  if (requireIfMatch && validator === undefined) refuse('config.requireIfMatch requires a validator to compare with. Set config.validator.')
  const own = cache === undefined ? undefined : cacheControl(cache, `${name}: config.cache`)
  // RFC 9110 §9.2.3: caches do not store responses to other methods.
  if (own?.isStored && !reads && !methods.includes('POST'))
    refuse('config.cache has no effect, because caches do not store responses to this method. Remove it.')
  const readPolicy = own ?? defaultPolicy
  // On a route with GET, the policy applies to GET (rule C5).
  const otherPolicy = (reads ? undefined : own) ?? noStore
  const isReadOnly = methods.every(isRead)
  const policyOf = (method: string) => (isReadOnly || isRead(method) ? readPolicy : otherPolicy)
  return { reads, writes, isReadOnly, validator, requireIfMatch, policyOf }
}

const writes: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** Returns whether the method is GET or HEAD, whose responses can be cached. */
export function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Returns whether the method is a write. */
export function isWrite(method: string): boolean {
  return writes.has(method)
}
