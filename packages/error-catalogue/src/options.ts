import type { IncomingHttpHeaders } from 'node:http'
import type { ErrorList } from '@concordat/api-error'
import type { OriginOptions } from '@concordat/links'
import type { FastifyRequest } from 'fastify'

/** Settings of the error catalogue. */
export interface ErrorCatalogueOptions extends OriginOptions {
  /**
   * The error lists of the service and of its other plugins. A code may stand in several lists when its status is the same.
   * @default []
   */
  readonly include?: readonly ErrorList[]
  /**
   * The languages of the messages; the first is used when nothing better is known. Every text must exist in each.
   * @default ['en', 'es']
   */
  readonly locales?: readonly string[]
  /**
   * Chooses the language of one answer. It also gets requests that no hook has seen.
   * @default the first of `locales`
   */
  readonly locale?: (request: { readonly headers: IncomingHttpHeaders }) => string
  /**
   * What `_meta.version` says. Without a request for bytes that never became one.
   * @default () => 'v1'
   */
  readonly version?: (request?: FastifyRequest) => string
  /**
   * Headers for answers that no hook sees (malformed requests, closing, a broken URL): the constant ones and a `Request-Id`.
   * @default () => ({})
   */
  readonly answerHeaders?: (request?: Pick<FastifyRequest, 'id' | 'protocol'>) => Readonly<Record<string, string>>
  /**
   * What `Retry-After` says on a 503 whose error names no time.
   * @default 5
   */
  readonly retryAfterSeconds?: number
  /**
   * How deep JSON bodies may nest.
   * @default 64
   */
  readonly maxJsonDepth?: number
  /**
   * How long a request's target may be, in characters; longer is a 414.
   * @default 8192
   */
  readonly maxUriLength?: number
  /** The clock, in milliseconds. @default Date.now */
  readonly now?: () => number
}

/** The options with every default in place. */
export type ResolvedErrorCatalogueOptions = Required<Omit<ErrorCatalogueOptions, keyof OriginOptions>> & OriginOptions

/** Fills in the defaults. Throws a `TypeError` with one line for a value that makes no sense. */
export function resolveOptions(options: ErrorCatalogueOptions): ResolvedErrorCatalogueOptions {
  const locales = options.locales ?? ['en', 'es']
  if (locales.length === 0) throw new TypeError('locales is empty. Name at least one language, as ["en"].')
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

/** Returns the number, or throws a `TypeError` that names the option. */
export function positiveInteger(name: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 1) throw new TypeError(`${name} is ${value}. Give a whole number of at least 1.`)
  return value
}
