import type { IncomingHttpHeaders } from 'node:http'
import type { ErrorList } from '@concordat/api-error'
import type { OriginOptions } from '@concordat/links'
import { optionChecks, requirePluginNames } from '@concordat/plugin-options'
import { type BypassingRequest, contractLater, contributions } from '@concordat/plugin-wiring'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/** Options of `@concordat/error-catalogue`. */
export interface ErrorCatalogueOptions extends OriginOptions {
  /**
   * The error lists of the service and of plugins that do not publish theirs; the plugins of this suite do. An error code can be in several lists if its status code is the same.
   * @default []
   */
  readonly include?: readonly ErrorList[] | undefined
  /**
   * The languages of the messages. The first is the default. Every text must exist in each language.
   * @default ['en', 'es']
   */
  readonly locales?: readonly string[] | undefined
  /**
   * Returns the language of a response. Also called for requests that did not reach the hooks.
   * @default the first of `locales`
   */
  readonly locale?: ((request: { readonly headers: IncomingHttpHeaders }) => string) | undefined
  /**
   * Returns the value of `_meta.version`. Called without a request for bytes that are not an HTTP request.
   * @default the version of the request, by versioning, otherwise 'v1'
   */
  readonly version?: ((request?: FastifyRequest) => string) | undefined
  /**
   * The value of `Retry-After`, in seconds, for a 503 whose error does not set it.
   * @default 5
   */
  readonly retryAfterSeconds?: number | undefined
  /**
   * The value of `WWW-Authenticate` for a 401 that has none, which RFC 9110 §15.5.2 requires.
   * @default 'Bearer realm="api"'
   */
  readonly challenge?: string | undefined
  /**
   * The maximum nesting depth of JSON bodies.
   * @default 64
   */
  readonly maxJsonDepth?: number | undefined
  /**
   * The maximum length of the request target, in characters. A longer target gets 414.
   * @default 8192
   */
  readonly maxUriLength?: number | undefined
  /** Returns the current time in milliseconds since the Unix epoch. @default Date.now */
  readonly now?: (() => number) | undefined
}

/** The options with all defaults. */
export type ResolvedErrorCatalogueOptions = OriginOptions & {
  /** Returns the headers that the plugins set on every response, for a response that bypasses the hooks. */
  readonly earlyHeaders: (request: BypassingRequest) => Readonly<Record<string, string>>
} & {
  readonly [Name in Exclude<keyof ErrorCatalogueOptions, keyof OriginOptions>]-?: NonNullable<ErrorCatalogueOptions[Name]>
}

const { integer } = optionChecks('error-catalogue')

/** Returns the options with all defaults. Throws a `TypeError` with a one-line message for an invalid value. */
export function resolveOptions(options: ErrorCatalogueOptions, app?: FastifyInstance): ResolvedErrorCatalogueOptions {
  requirePluginNames('error-catalogue', options, {
    publicUrl: true,
    allowedHosts: true,
    include: true,
    locales: true,
    locale: true,
    version: true,
    retryAfterSeconds: true,
    challenge: true,
    maxJsonDepth: true,
    maxUriLength: true,
    now: true
  })
  const locales = options.locales ?? ['en', 'es']
  const versions = app ? contractLater(app, 'versions') : () => undefined
  if (locales.length === 0) throw new TypeError('error-catalogue: options.locales is empty. Add at least one language, for example ["en"].')
  return {
    ...options,
    include: options.include ?? [],
    locales,
    locale: options.locale ?? (() => locales[0] as string),
    version: options.version ?? ((request) => versions()?.nameOf(request) ?? 'v1'),
    earlyHeaders: (request) => Object.assign({}, ...(app ? contributions(app, 'earlyHeaders') : []).map((headersOf) => headersOf(request))),
    retryAfterSeconds: integer('options.retryAfterSeconds', options.retryAfterSeconds ?? 5, 1),
    challenge: requireChallenge(options.challenge ?? 'Bearer realm="api"'),
    maxJsonDepth: integer('options.maxJsonDepth', options.maxJsonDepth ?? 64, 1),
    maxUriLength: integer('options.maxUriLength', options.maxUriLength ?? 8192, 1),
    now: options.now ?? (() => Date.now())
  }
}

function requireChallenge(challenge: string) {
  if (typeof challenge !== 'string' || !/^[A-Za-z][\w-]*( [ -~]+)?$/.test(challenge))
    throw new TypeError(
      `error-catalogue: options.challenge must be a scheme with optional parameters, for example 'Bearer realm="api"', but is ${JSON.stringify(challenge)}.`
    )
  return challenge
}
