import { requirePluginNames } from '@concordat/plugin-options'
/** Options of @concordat/content-negotiation. */
export interface ContentNegotiationOptions {
  /**
   * The languages of the service's messages, as BCP 47 tags. The first is for clients that accept none of them.
   * @default ['en', 'es']
   */
  readonly locales?: readonly string[] | undefined
  /**
   * Content codings of request bodies that a plugin of the service decodes, for example `['gzip', 'br']`.
   * @default [] – every encoded body is refused
   */
  readonly contentEncodings?: readonly string[] | undefined
}

/** The options with their defaults. */
export type ResolvedOptions = { readonly [Name in keyof ContentNegotiationOptions]-?: NonNullable<ContentNegotiationOptions[Name]> }

/** Returns the options with their defaults. Throws a `TypeError` unless the options are lists of language tags and of codings. */
export function resolveOptions(options: ContentNegotiationOptions): ResolvedOptions {
  requirePluginNames('content-negotiation', options, { locales: true, contentEncodings: true })
  const { locales = ['en', 'es'], contentEncodings = [] } = options
  if (!Array.isArray(locales) || locales.length === 0 || !locales.every(isLanguageTag)) {
    throw new TypeError(
      `content-negotiation: options.locales must be an array of language tags, the default first, such as ["en", "pt-BR"], but is ${JSON.stringify(locales)}.`
    )
  }
  if (!Array.isArray(contentEncodings) || !contentEncodings.every((coding) => typeof coding === 'string' && /^[\w-]+$/.test(coding))) {
    throw new TypeError(
      `content-negotiation: options.contentEncodings must be an array of content codings, for example ["gzip"], but is ${JSON.stringify(contentEncodings)}.`
    )
  }
  return { locales, contentEncodings: contentEncodings.map((coding: string) => coding.toLowerCase()) }
}

function isLanguageTag(tag: unknown) {
  try {
    return typeof tag === 'string' && Intl.getCanonicalLocales(tag).length === 1
  } catch {
    return false
  }
}
