import { describeOptions, type OptionsOf, type SettingsOf, value } from '@concordat/plugin-options'

/** The description of {@link ContentNegotiationOptions}. @readme */
export const contentNegotiationOptions = describeOptions('content-negotiation', {
  /** The languages of the service's texts, as BCP 47 tags. The first is for clients that accept none of them. */
  locales: value<readonly string[]>({ default: ['en', 'es'] }),
  /** Codings of request bodies that one of your plugins decodes, for example `['gzip', 'br']`. All others are refused. */
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
