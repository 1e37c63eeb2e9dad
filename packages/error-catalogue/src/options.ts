import type { IncomingHttpHeaders } from 'node:http'
import type { ErrorList } from '@concordat/api-error'
import { callback, clock, describeOptions, type OptionsOf, type SettingsOf, value } from '@concordat/plugin-options'
import type { FastifyRequest } from 'fastify'

/** A request whose response bypasses the hooks. The id and the protocol are known if it reached the router. */
export interface BypassingRequest {
  readonly headers: IncomingHttpHeaders
  readonly id?: string | undefined
  readonly protocol?: string | undefined
}

type ErrorLists = readonly ErrorList[]

/** The description of {@link ErrorCatalogueOptions}. @readme */
export const errorCatalogueOptions = describeOptions('error-catalogue', {
  /** The base URL of self links. */
  publicUrl: value<string>(),
  /** Without `publicUrl`: hosts of requests that links may use. */
  allowedHosts: value<readonly string[]>(),
  /** The error lists of the service, and of plugins that do not publish theirs. */
  include: value<ErrorLists>({ default: [] }),
  /** The languages of the messages, the default first. Every text must exist in each. */
  locales: value<readonly string[]>({ default: ['en', 'es'] }),
  /** Returns the language of a response. By default the first of `locales`. */
  locale: callback<(request: { readonly headers: IncomingHttpHeaders }) => string>('returns a language'),
  /** Returns `_meta.version`, by default `v1`, without a request for bytes that are not HTTP. */
  version: callback<(request?: FastifyRequest) => string>('returns the version', { default: () => 'v1' }),
  /** Returns the headers of responses that skip the hooks, such as `Request-Id`. */
  responseHeaders: callback<(request: BypassingRequest) => Readonly<Record<string, string>>>('returns headers', { default: () => ({}) }),
  /** Returns the current time. */
  now: clock()
})

/** Options of `@concordat/error-catalogue`. */
export interface ErrorCatalogueOptions extends OptionsOf<typeof errorCatalogueOptions> {}

type Described = SettingsOf<(typeof errorCatalogueOptions)['members']>
/** The options with all defaults. */
export type Settings = Described & { readonly locale: NonNullable<Described['locale']> }

/** Returns the options with all defaults. Throws a `TypeError` with a one-line message for an invalid value. */
export function resolveOptions(options: ErrorCatalogueOptions): Settings {
  const settings = errorCatalogueOptions.readPlugin(options)
  const [first] = settings.locales
  if (first === undefined) throw new TypeError('error-catalogue: options.locales is empty. Add at least one language, for example ["en"].')
  return { ...settings, locale: settings.locale ?? (() => first) }
}
