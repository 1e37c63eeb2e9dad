import type { FastifyReply, FastifyRequest } from 'fastify'
import { type CacheControl, type CachePolicy, cacheControl } from './cache-policy.ts'

/** Options of `@concordat/conditional-caching`. */
export interface ConditionalCachingOptions {
  /**
   * The cache policy of responses to GET and HEAD on routes that do not set one.
   * @default 'private' – `private, no-cache`
   */
  readonly cache?: CachePolicy
  /**
   * How long the responses of routes with `cache: 'public'` may be used without validation, in seconds.
   * @default 86400 – a day
   */
  readonly publicMaxAgeSeconds?: number
  /**
   * Returns whether the caller is known, so that shared caches must not store the response. The caller of a request with `Authorization` or
   * `Cookie`, or of a response that sets a cookie, always counts as known.
   * @default () => false
   */
  readonly isPrivate?: (request: FastifyRequest) => boolean
  /**
   * Returns how many characters at the end of a serialized response differ each time, such as a timestamp: the tag ignores them.
   * @default () => 0
   */
  readonly volatileTail?: (reply: FastifyReply, payload: string) => number
  /**
   * Whether tags are strong, so that `If-Match` can use them, or weak.
   * @default 'strong'
   */
  readonly strength?: 'strong' | 'weak'
  /**
   * How `If-Match` compares: `strong` as RFC 9110 requires; `opaque` also accepts a tag that a proxy has made weak.
   * @default 'strong'
   */
  readonly ifMatch?: 'strong' | 'opaque'
  /**
   * Whether a successful PUT sends the tag of the new state. RFC 9110 §9.3.4 allows it only if the body was stored as received.
   * @default false
   */
  readonly etagOnPut?: boolean
  /**
   * Part of each tag that is created from a version. Change it when the same version is serialized differently, for example after a
   * release that adds a field.
   * @default ''
   */
  readonly revision?: string
  /**
   * The clock, in milliseconds, for dates whose year has two digits.
   * @default Date.now
   */
  readonly now?: () => number
}

/** The options with defaults applied. */
export interface ResolvedOptions extends Required<Omit<ConditionalCachingOptions, 'cache' | 'strength' | 'ifMatch'>> {
  readonly defaultPolicy: CacheControl
  readonly isWeak: boolean
  readonly takesWeak: boolean
}

/** Applies the defaults. Throws a `TypeError` that names the first invalid option. */
export function resolveOptions({
  cache = 'private',
  publicMaxAgeSeconds = 86_400,
  isPrivate = () => false,
  volatileTail = () => 0,
  strength = 'strong',
  ifMatch = 'strong',
  etagOnPut = false,
  revision = '',
  now = Date.now
}: ConditionalCachingOptions): ResolvedOptions {
  const functions = { isPrivate, volatileTail, now }
  for (const [name, value] of Object.entries(functions)) {
    if (typeof value !== 'function')
      throw new TypeError(`conditional-caching: options.${name} must be a function, but its type is ${typeof value}.`)
  }
  requireOneOf('strength', strength, ['strong', 'weak'])
  requireOneOf('ifMatch', ifMatch, ['strong', 'opaque'])
  requireOneOf('etagOnPut', etagOnPut, [true, false])
  if (typeof revision !== 'string' || !/^[\w.-]*$/.test(revision)) {
    throw new TypeError(
      `conditional-caching: options.revision must be a string of letters, digits, "_", "." and "-", for example "2026-11", but is ${JSON.stringify(revision)}.`
    )
  }
  cacheControl('public', publicMaxAgeSeconds, 'options.publicMaxAgeSeconds')
  return {
    ...functions,
    defaultPolicy: cacheControl(cache, publicMaxAgeSeconds, 'options.cache'),
    publicMaxAgeSeconds,
    isWeak: strength === 'weak',
    takesWeak: ifMatch === 'opaque',
    etagOnPut,
    revision
  }
}

function requireOneOf(name: string, value: unknown, allowed: readonly unknown[]) {
  if (allowed.includes(value)) return
  throw new TypeError(
    `conditional-caching: options.${name} must be ${allowed.map((one) => JSON.stringify(one)).join(' or ')}, but is ${JSON.stringify(value)}.`
  )
}
