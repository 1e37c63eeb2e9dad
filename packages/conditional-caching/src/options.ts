import type { FastifyReply, FastifyRequest } from 'fastify'
import { type CacheControl, type CachePolicy, cacheControl } from './cache-policy.ts'

/** What `@concordat/conditional-caching` can be told. */
export interface ConditionalCachingOptions {
  /**
   * How answers to GET and HEAD may be kept where the route does not say.
   * @default 'private' – `private, no-cache`
   */
  readonly cache?: CachePolicy
  /**
   * How long the answers of routes with `cache: 'public'` may be used without asking, in seconds.
   * @default 86400 – a day
   */
  readonly publicMaxAgeSeconds?: number
  /**
   * Whether the caller is known, so that no shared cache may keep the answer. A request with `Authorization` or `Cookie` is always taken
   * for one of a known caller, and so is an answer that sets a cookie.
   * @default () => false
   */
  readonly isPrivate?: (request: FastifyRequest) => boolean
  /**
   * How many characters at the end of a serialized answer differ each time it is sent, as a timestamp does: they are left out of its tag.
   * @default () => 0
   */
  readonly volatileTail?: (reply: FastifyReply, payload: string) => number
  /**
   * Whether tags are strong, so that `If-Match` can use them, or weak.
   * @default 'strong'
   */
  readonly strength?: 'strong' | 'weak'
  /**
   * How `If-Match` compares: `strong` as RFC 9110 asks; `opaque` also takes a tag that a proxy has made weak.
   * @default 'strong'
   */
  readonly ifMatch?: 'strong' | 'opaque'
  /**
   * Whether a successful PUT answers with the tag of the new state. RFC 9110 §9.3.4 allows it only where the body was stored as it came.
   * @default false
   */
  readonly etagOnPut?: boolean
  /**
   * Stands in each tag that is made from a version. Change it when the same version is written differently, as after a release that adds
   * a field.
   * @default ''
   */
  readonly revision?: string
  /**
   * The clock, in milliseconds, for dates whose year has two digits.
   * @default Date.now
   */
  readonly now?: () => number
}

/** The options after defaults. */
export interface ResolvedOptions extends Required<Omit<ConditionalCachingOptions, 'cache' | 'strength' | 'ifMatch'>> {
  readonly defaultPolicy: CacheControl
  readonly isWeak: boolean
  readonly takesWeak: boolean
}

/** Fills in the defaults. Throws a `TypeError` of one line for a value that makes no sense. */
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
    if (typeof value !== 'function') throw new TypeError(`conditional-caching: ${name} is a ${typeof value}. Give a function.`)
  }
  requireOneOf('strength', strength, ['strong', 'weak'])
  requireOneOf('ifMatch', ifMatch, ['strong', 'opaque'])
  requireOneOf('etagOnPut', etagOnPut, [true, false])
  if (typeof revision !== 'string' || !/^[\w.-]*$/.test(revision)) {
    throw new TypeError(
      `conditional-caching: revision is ${JSON.stringify(revision)}. Give letters, digits, "_", "." and "-", as "2026-11".`
    )
  }
  cacheControl('public', publicMaxAgeSeconds, 'publicMaxAgeSeconds')
  return {
    ...functions,
    defaultPolicy: cacheControl(cache, publicMaxAgeSeconds, 'cache'),
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
    `conditional-caching: ${name} is ${JSON.stringify(value)}. Give ${allowed.map((one) => JSON.stringify(one)).join(' or ')}.`
  )
}
