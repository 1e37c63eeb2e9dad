import { optionChecks, requirePluginNames } from '@concordat/plugin-options'
import { contractLater, contractOf } from '@concordat/plugin-wiring'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type CacheControl, type CachePolicy, cacheControl, maxAgeLimitSeconds } from './cache-policy.ts'

/** Options of `@concordat/conditional-caching`. */
export interface ConditionalCachingOptions {
  /**
   * The cache policy of responses to GET and HEAD on routes that do not set one.
   * @default 'private' – `private, no-cache`
   */
  readonly cache?: CachePolicy | undefined
  /**
   * How long the responses of routes with `cache: 'public'` may be used without validation, in seconds.
   * @default 86400 – a day
   */
  readonly publicMaxAgeSeconds?: number | undefined
  /**
   * Returns whether the caller is authenticated; if so, shared caches must not store the response. The caller of a request with `Authorization` or
   * `Cookie`, or of a response that sets a cookie, always counts as known.
   * @default () => false
   */
  readonly isPrivate?: ((request: FastifyRequest) => boolean) | undefined
  /**
   * Returns how many characters at the end of a serialized response differ each time, for example because they are a timestamp; the entity
   * tag does not depend on them.
   * @default the timestamp of @concordat/envelope, where it is registered
   */
  readonly volatileTail?: ((reply: FastifyReply, payload: string) => number) | undefined
  /**
   * Whether tags are strong, so that `If-Match` can use them, or weak.
   * @default 'strong'
   */
  readonly strength?: 'strong' | 'weak' | undefined
  /**
   * How `If-Match` compares tags: `strong`, as RFC 9110 requires, or `opaque`, which also accepts a tag that a proxy has made weak.
   * @default 'strong'
   */
  readonly ifMatch?: 'strong' | 'opaque' | undefined
  /**
   * Whether the response to a successful PUT contains the tag of the new state. RFC 9110 §9.3.4 allows it only if the body was stored as
   * received.
   * @default false
   */
  readonly etagOnPut?: boolean | undefined
  /**
   * A string that becomes part of each entity tag that is created from a version. Change it when the same version is serialized
   * differently, for example after a release that adds a field.
   * @default ''
   */
  readonly revision?: string | undefined
  /**
   * The time from which responses have their current form, as a `Date`, or an ISO 8601 date-time with `Z` or an offset; the same in all
   * processes. No response has an earlier `Last-Modified`. Change it with each release that changes any response, to a time when no process of
   * the release before runs any more. Until a time in the future has come, no response has `Last-Modified`, and `If-Modified-Since` never gets 304
   * (RFC 9110 §8.8.2.1).
   * @default dates are those of the resources alone, and the first one is logged as a warning
   */
  readonly representationChangedAt?: string | Date | undefined
  /**
   * Returns the current time in milliseconds since the Unix epoch, for dates of changes and to interpret dates whose year has two digits.
   * @default Date.now
   */
  readonly now?: (() => number) | undefined
}

type Defaulted = Omit<ConditionalCachingOptions, 'cache' | 'strength' | 'ifMatch' | 'representationChangedAt'>

/** The options with defaults applied. */
export interface ResolvedOptions extends Readonly<{ [Name in keyof Defaulted]-?: NonNullable<Defaulted[Name]> }> {
  readonly defaultPolicy: CacheControl
  readonly isWeak: boolean
  readonly takesWeak: boolean
  /** In seconds since the Unix epoch: the first whole second from which all responses have their current form. */
  readonly representationChangedAt: number | undefined
  /** Logs that a route sends dates although `representationChangedAt` is not set, once. */
  readonly reportDates: (request: FastifyRequest) => void
}

const { integer, oneOf, time } = optionChecks('conditional-caching')

/** Applies the defaults. Throws a `TypeError` that names the first invalid option. */
export function resolveOptions(options: ConditionalCachingOptions, app: FastifyInstance): ResolvedOptions {
  requirePluginNames('conditional-caching', options, {
    cache: true,
    publicMaxAgeSeconds: true,
    isPrivate: true,
    volatileTail: true,
    strength: true,
    ifMatch: true,
    etagOnPut: true,
    revision: true,
    representationChangedAt: true,
    now: true
  })
  const clients = contractLater(app, 'clients')
  const {
    cache = 'private',
    publicMaxAgeSeconds = 86_400,
    isPrivate = (request) => clients()?.isPrivate(request) === true,
    volatileTail = envelopeTail(app),
    strength = 'strong',
    ifMatch = 'strong',
    etagOnPut = false,
    revision = '',
    representationChangedAt,
    now = () => Date.now()
  } = options
  const functions = { isPrivate, volatileTail, now }
  for (const [name, value] of Object.entries(functions)) {
    if (typeof value !== 'function')
      throw new TypeError(`conditional-caching: options.${name} must be a function, but its type is ${typeof value}.`)
  }
  oneOf('options.strength', strength, ['strong', 'weak'])
  oneOf('options.ifMatch', ifMatch, ['strong', 'opaque'])
  oneOf('options.etagOnPut', etagOnPut, [true, false])
  if (typeof revision !== 'string' || !/^[\w.-]*$/.test(revision)) {
    throw new TypeError(
      `conditional-caching: options.revision must be a string of letters, digits, "_", "." and "-", for example "2026-11", but is ${JSON.stringify(revision)}.`
    )
  }
  integer('options.publicMaxAgeSeconds', publicMaxAgeSeconds, 0, maxAgeLimitSeconds)
  return {
    ...functions,
    defaultPolicy: cacheControl(cache, publicMaxAgeSeconds, 'options.cache'),
    publicMaxAgeSeconds,
    isWeak: strength === 'weak',
    takesWeak: ifMatch === 'opaque',
    etagOnPut,
    revision,
    representationChangedAt:
      representationChangedAt === undefined
        ? undefined
        : Math.ceil(time('options.representationChangedAt', representationChangedAt) / 1000),
    reportDates: datesReport(app)
  }
}

// The envelope may be registered later, so it is looked up with the first response.
function envelopeTail(app: FastifyInstance) {
  let tail: ResolvedOptions['volatileTail'] | undefined
  return (reply: FastifyReply, payload: string) => {
    tail ??= contractOf(app, 'envelope')?.volatileTail ?? (() => 0)
    return tail(reply, payload)
  }
}

function datesReport(app: FastifyInstance) {
  let isReported = false
  return ({ routeOptions }: FastifyRequest) => {
    if (isReported) return
    isReported = true
    app.log.warn(
      `conditional-caching: options.representationChangedAt is not set, but ${routeOptions.url} sends Last-Modified: after a release that changes its responses, clients get 304 for the former ones. Set it to the time of the last such release.`
    )
  }
}
