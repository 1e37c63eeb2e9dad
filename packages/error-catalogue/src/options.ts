import type { IncomingHttpHeaders } from 'node:http'
import type { ErrorList } from '@concordat/plugin-kit/api-error'
import { isObject } from '@concordat/plugin-kit/json-schema'
import { callback, clock, describeOptions, type OptionsOf, type SettingsOf, value } from '@concordat/plugin-kit/options'
import { type BypassingRequest, contractLater, contributions } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Translate } from './translation.ts'

// RFC 5646 §2.1, in the length that §4.4.1 expects of tags.
const languageTag = /^(?!.{36})[a-z]{1,8}(?:-[a-z\d]{1,8})*$/i

type ErrorLists = readonly ErrorList[]

/** The description of {@link ErrorCatalogueOptions}. @readme */
export const errorCatalogueOptions = describeOptions('error-catalogue', {
  /** The base URL of self links. */
  publicUrl: value<string>(),
  /** Without `publicUrl`: hosts of requests that links may use. */
  allowedHosts: value<readonly string[]>(),
  /** The error lists of the service, and of plugins that do not publish theirs. */
  include: value<ErrorLists>({ default: [] }),
  /** Returns what is sent for an error of the service that is not an `ApiError`: one, or an object with `statusCode`; undefined for an error it does not know. */
  translate: callback<Translate>('returns an ApiError, an object with statusCode, or undefined'),
  /** The languages of the messages, the default first. Every text must exist in each. */
  locales: value<readonly string[]>({ default: ['en', 'es'] }),
  /** Returns the language of a response. By default the first of `locales`. */
  locale: callback<(request: { readonly headers: IncomingHttpHeaders }) => string>('returns a language'),
  /** Returns `_meta.version`, of at most 64 characters, by default as versioning knows it, otherwise `v1`. Called without a request for bytes that are not HTTP. */
  version: callback<(request?: FastifyRequest) => string>('returns the version'),
  /** Returns the current time. */
  now: clock()
})

/** Options of `@concordat/error-catalogue`. */
export interface ErrorCatalogueOptions extends OptionsOf<typeof errorCatalogueOptions> {}

type Described = SettingsOf<(typeof errorCatalogueOptions)['members']>
/** The options with all defaults. */
export interface Settings extends Omit<Described, 'locale' | 'version'> {
  readonly locale: NonNullable<Described['locale']>
  readonly version: NonNullable<Described['version']>
  /** Returns the headers that the plugins set on every response, for a response that bypasses the hooks. */
  readonly earlyHeaders: (request: BypassingRequest) => Readonly<Record<string, string>>
}

/** Returns the options with all defaults. Throws a `TypeError` with a one-line message for an invalid value. Without an app, nothing of other plugins is used. */
export function resolveOptions(options: ErrorCatalogueOptions, app?: FastifyInstance): Settings {
  const settings = errorCatalogueOptions.readPlugin(options)
  const { include, locales } = settings
  if (!Array.isArray(include) || !include.every(isErrorList))
    throw new TypeError('error-catalogue: options.include must be an array of error lists, for example [defineErrors({ … })].')
  if (!Array.isArray(locales) || !locales.every((locale) => typeof locale === 'string' && languageTag.test(locale)))
    throw new TypeError('error-catalogue: options.locales must be an array of language tags, for example ["en", "pt-BR"].')
  const [first] = locales
  if (first === undefined) throw new TypeError('error-catalogue: options.locales is empty. Add at least one language, for example ["en"].')
  const versions = app ? contractLater(app, 'versions') : () => undefined
  const headers = app ? contributions(app, 'earlyHeaders') : []
  return {
    ...settings,
    locale: settings.locale ?? (() => first),
    version: settings.version ?? ((request) => versions()?.nameOf(request) ?? 'v1'),
    earlyHeaders: (request) => Object.assign({}, ...headers.map((headersOf) => headersOf(request)))
  }
}

function isErrorList(value: unknown): boolean {
  return isObject(value) && isObject(value['definitions']) && isObject(value['fieldMessages'])
}
