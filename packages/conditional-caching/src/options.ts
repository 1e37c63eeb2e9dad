import { callback, describeOptions, type OptionsOf, oneOf, optionChecks, type SettingsOf, value } from '@concordat/plugin-kit/options'
import { contractLater, contractOf } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type CacheControl, type CachePolicy, cacheControl } from './cache-policy.ts'

/** The description of {@link ConditionalCachingOptions}. @readme */
export const conditionalCachingOptions = describeOptions('conditional-caching', {
  /** The cache policy of responses to GET and HEAD on routes that do not set one. */
  cache: value<CachePolicy>({ default: 'private' }),
  /** Returns whether shared caches must not store the response: by default whether authentication knows the caller. Always so with `Authorization` or `Cookie`. */
  isPrivate: callback<(request: FastifyRequest) => boolean>('returns whether the caller is authenticated'),
  /** `opaque`: `If-Match` also accepts tags that a proxy has made weak. */
  ifMatch: oneOf(['strong', 'opaque'], { default: 'strong' }),
  /** A part of each tag from a version; change it with a release that changes responses but not their schemas. */
  revision: value<string>({ default: '' }),
  /** The time from which responses have their current form: a `Date`, or an ISO 8601 date-time with an offset. No `Last-Modified` is earlier. */
  representationChangedAt: value<string | Date>()
})

/** Options of `@concordat/conditional-caching`. */
export interface ConditionalCachingOptions extends OptionsOf<typeof conditionalCachingOptions> {}

type Described = SettingsOf<(typeof conditionalCachingOptions)['members']>

/** The options with defaults applied. */
export interface Settings extends Omit<Described, 'cache' | 'ifMatch' | 'isPrivate' | 'representationChangedAt'> {
  readonly isPrivate: (request: FastifyRequest) => boolean
  /** Returns the tenant of a request, on which the content of a URL depends. */
  readonly tenantOf: (request: FastifyRequest) => string | undefined
  /** Returns the headers that name the tenant of a request. */
  readonly tenantHeaders: (request: FastifyRequest) => readonly string[]
  readonly defaultPolicy: CacheControl
  readonly takesWeak: boolean
  /** In seconds since the Unix epoch: the first whole second from which all responses have their current form. */
  readonly representationChangedAt: number | undefined
  /** Returns how many characters at the end of a serialized response differ each time. */
  readonly volatileTail: (reply: FastifyReply, payload: string) => number
  /** Returns the text of what is added to a response after it is tagged; undefined for nothing. */
  readonly includedText: (request: FastifyRequest) => string | undefined
  /** Logs that a route sends dates although `representationChangedAt` is not set, once. */
  readonly reportDates: (request: FastifyRequest) => void
}

/** Applies the defaults. Throws a `TypeError` that names the first invalid option. */
export function resolveOptions(options: ConditionalCachingOptions, app: FastifyInstance): Settings {
  const { cache, ifMatch, isPrivate, representationChangedAt, ...settings } = conditionalCachingOptions.readPlugin(options)
  const { revision } = settings
  if (typeof revision !== 'string' || !/^[\w.-]*$/.test(revision)) {
    throw new TypeError(
      `conditional-caching: options.revision must be a string of letters, digits, "_", "." and "-", for example "2026-11", but is ${JSON.stringify(revision)}.`
    )
  }
  const { time } = optionChecks('conditional-caching')
  const changedAt =
    representationChangedAt === undefined ? undefined : Math.ceil(time('options.representationChangedAt', representationChangedAt) / 1000)
  const clients = contractLater(app, 'clients')
  const pages = contractLater(app, 'pages')
  return {
    ...settings,
    isPrivate: isPrivate ?? ((request) => clients()?.isPrivate(request) === true),
    tenantOf: (request) => clients()?.tenantOf?.(request),
    tenantHeaders: (request) => (clients()?.tenantOf?.(request) === undefined ? none : (clients()?.credentialHeaders ?? none)),
    defaultPolicy: cacheControl(cache, 'options.cache'),
    takesWeak: ifMatch === 'opaque',
    representationChangedAt: changedAt,
    volatileTail: envelopeTail(app),
    includedText: (request) => pages()?.included?.(request),
    reportDates: datesReport(app)
  }
}

const none: readonly string[] = []

// The envelope may be registered later, so it is looked up with the first response.
function envelopeTail(app: FastifyInstance) {
  let tail: Settings['volatileTail'] | undefined
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
