import type { IncomingHttpHeaders } from 'node:http'
import type { ErrorList } from '@concordat/api-error'
import type { OriginOptions } from '@concordat/links'
import type { FastifyRequest } from 'fastify'

/** Options of `@concordat/error-catalogue`. */
export interface ErrorCatalogueOptions extends OriginOptions {
  /**
   * The error lists of the service and of its other plugins. An error code can be in several lists if its status code is the same.
   * @default []
   */
  readonly include?: readonly ErrorList[]
  /**
   * The languages of the messages. The first is the default. Every text must exist in each language.
   * @default ['en', 'es']
   */
  readonly locales?: readonly string[]
  /**
   * Returns the language of a response. Also called for requests that did not reach the hooks.
   * @default the first of `locales`
   */
  readonly locale?: (request: { readonly headers: IncomingHttpHeaders }) => string
  /**
   * Returns the value of `_meta.version`. Called without a request for bytes that are not an HTTP request.
   * @default () => 'v1'
   */
  readonly version?: (request?: FastifyRequest) => string
  /**
   * Returns the headers of responses that skip the hooks (malformed request or URL, closing server): constant headers and `Request-Id`.
   * @default () => ({})
   */
  readonly answerHeaders?: (request?: Pick<FastifyRequest, 'id' | 'protocol'>) => Readonly<Record<string, string>>
  /**
   * The value of `Retry-After`, in seconds, for a 503 whose error does not set it.
   * @default 5
   */
  readonly retryAfterSeconds?: number
  /**
   * The maximum nesting depth of JSON bodies.
   * @default 64
   */
  readonly maxJsonDepth?: number
  /**
   * The maximum length of the request target, in characters. A longer target gets 414.
   * @default 8192
   */
  readonly maxUriLength?: number
  /** The clock, in milliseconds since 1970. @default Date.now */
  readonly now?: () => number
}

/** The options with all defaults. */
export type ResolvedErrorCatalogueOptions = Required<Omit<ErrorCatalogueOptions, keyof OriginOptions>> & OriginOptions

/** Returns the options with all defaults. Throws a `TypeError` with a one-line message for an invalid value. */
export function resolveOptions(options: ErrorCatalogueOptions): ResolvedErrorCatalogueOptions {
  const locales = options.locales ?? ['en', 'es']
  if (locales.length === 0) throw new TypeError('error-catalogue: options.locales is empty. Add at least one language, for example ["en"].')
  return {
    ...options,
    include: options.include ?? [],
    locales,
    locale: options.locale ?? (() => locales[0] as string),
    version: options.version ?? (() => 'v1'),
    answerHeaders: options.answerHeaders ?? (() => ({})),
    retryAfterSeconds: positiveInteger('retryAfterSeconds', options.retryAfterSeconds ?? 5),
    maxJsonDepth: positiveInteger('maxJsonDepth', options.maxJsonDepth ?? 64),
    maxUriLength: positiveInteger('maxUriLength', options.maxUriLength ?? 8192),
    now: options.now ?? Date.now
  }
}

/** Returns the number. Throws a `TypeError` that names the option when it is not a positive integer. */
export function positiveInteger(name: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 1)
    throw new TypeError(`error-catalogue: options.${name} is ${value}. Set it to an integer of at least 1.`)
  return value
}
