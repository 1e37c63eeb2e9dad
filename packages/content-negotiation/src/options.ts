import { describeOptions, type OptionsOf, type SettingsOf, value } from '@concordat/plugin-kit/options'

/** The description of {@link ContentNegotiationOptions}. */
export const contentNegotiationOptions = describeOptions('content-negotiation', {
  /** The languages of the service's texts, the default first. */
  locales: value<readonly string[]>({ default: ['en', 'es'] }),
  /** Codings of request bodies that a plugin of yours decodes, such as `gzip`. */
  contentEncodings: value<readonly string[]>({ default: [] })
})

/** Options of `@concordat/content-negotiation`. */
export interface ContentNegotiationOptions extends OptionsOf<typeof contentNegotiationOptions> {}

/** Returns the options with their defaults. Throws a `TypeError` unless the options are lists of language tags and of codings. */
export function resolveOptions(options: ContentNegotiationOptions): SettingsOf<(typeof contentNegotiationOptions)['members']> {
  const { locales, contentEncodings } = contentNegotiationOptions.readPlugin(options)
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
