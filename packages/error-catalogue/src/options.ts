import type { IncomingHttpHeaders } from 'node:http'
import { isAbsolute } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ErrorList } from '@concordat/plugin-kit/api-error'
import { isObject } from '@concordat/plugin-kit/json-schema'
import { callback, describeOptions, type OptionsOf, type SettingsOf, value } from '@concordat/plugin-kit/options'
import { isKnownLanguage, type TextList } from '@concordat/plugin-kit/texts'
import { type BypassingRequest, contractLater, contributions } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Translate } from './catalogue/translation.ts'

// RFC 5646 §2.1, in the length that §4.4.1 expects of tags.
const languageTag = /^(?!.{36})[a-z]{1,8}(?:-[a-z\d]{1,8})*$/i

/** The path of the route that describes the types of problem documents. */
export const problemTypesPath = '/problem-types'

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
  /** The languages of the messages, the default first. Every text must exist in each, or in its parent, such as `de` of `de-AT`. */
  locales: value<readonly string[]>({ default: ['en', 'es'] }),
  /** The folder with translations, `<language>.json` each, as an absolute path or a file URL. */
  translations: value<string | URL>(),
  /** Further texts of the service, for `request.text`. */
  texts: value<readonly TextList[]>({ default: [] }),
  /** The time zone of dates in texts. */
  timeZone: value<string>({ default: 'UTC' }),
  /** Returns the language of a response. By default the first of `locales`. */
  locale: callback<(request: { readonly headers: IncomingHttpHeaders }) => string>('returns a language'),
  /** The paths below which an error is a problem document (RFC 9457) for clients that prefer one: `['/v2']`, or `['/']` for all. Add `problemTypeRoutes`. */
  problemDetails: value<readonly string[]>({ default: [] }),
  /** Returns `_meta.version`, of at most 64 characters, by default as versioning knows it, otherwise `v1`. Called without a request for bytes that are not HTTP. */
  version: callback<(request?: FastifyRequest) => string>('returns the version')
})

/** Options of `@concordat/error-catalogue`. */
export interface ErrorCatalogueOptions extends OptionsOf<typeof errorCatalogueOptions> {}

type Described = SettingsOf<(typeof errorCatalogueOptions)['members']>
/** The options with all defaults. */
export interface Settings extends Omit<Described, 'locale' | 'version' | 'translations'> {
  readonly locale: NonNullable<Described['locale']>
  readonly version: NonNullable<Described['version']>
  /** The path of the folder. */
  readonly translations: string | undefined
  /** The path to which the types of problem documents lead. */
  readonly problemTypesPath: string
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
  const unknown = locales.find((locale) => !isKnownLanguage(locale))
  if (unknown !== undefined)
    throw new TypeError(`error-catalogue: options.locales has "${unknown}", a language that Intl does not know. Use a tag such as "pt-BR".`)
  requireTextOptions(settings)
  requirePaths(settings.problemDetails)
  const versions = app ? contractLater(app, 'versions') : () => undefined
  const headers = app ? contributions(app, 'earlyHeaders') : []
  return {
    ...settings,
    locale: settings.locale ?? (() => first),
    translations: pathOf(settings.translations),
    problemTypesPath: `${app?.prefix ?? ''}${problemTypesPath}`,
    version: settings.version ?? ((request) => versions()?.nameOf(request) ?? 'v1'),
    earlyHeaders: (request) => Object.assign({}, ...headers.map((headersOf) => headersOf(request)))
  }
}

function requireTextOptions({ texts, timeZone }: Pick<Settings, 'texts' | 'timeZone'>) {
  if (!Array.isArray(texts) || !texts.every((list) => isObject(list) && isObject(list['texts'])))
    throw new TypeError('error-catalogue: options.texts must be an array of lists of texts, for example [defineTexts({ … })].')
  if (!isTimeZone(timeZone))
    throw new TypeError(
      `error-catalogue: options.timeZone is "${timeZone}", which is not a time zone. Use one such as "UTC" or "Europe/Madrid".`
    )
}

function requirePaths(paths: unknown) {
  if (!Array.isArray(paths) || !paths.every((path) => typeof path === 'string' && /^\/[^?#:*]*$/.test(path)))
    throw new TypeError('error-catalogue: options.problemDetails must be an array of paths without parameters, for example ["/v2"].')
}

function isTimeZone(timeZone: string) {
  try {
    return typeof Intl.DateTimeFormat('en', { timeZone }) === 'object'
  } catch {
    return false
  }
}

function pathOf(folder: unknown): string | undefined {
  if (folder === undefined) return undefined
  if (folder instanceof URL && folder.protocol === 'file:') return fileURLToPath(folder)
  if (typeof folder === 'string' && isAbsolute(folder)) return folder
  throw new TypeError(
    "error-catalogue: options.translations must be an absolute path or a file URL, for example new URL('../locales/', import.meta.url)."
  )
}

function isErrorList(value: unknown): boolean {
  return isObject(value) && isObject(value['definitions']) && isObject(value['fieldMessages'])
}
