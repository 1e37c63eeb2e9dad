/** What `@concordat/content-negotiation` can be told. */
export interface ContentNegotiationOptions {
  /**
   * The languages that the service has texts in, as BCP 47 tags; the first is for everybody who asks for none of them.
   * @default ['en', 'es']
   */
  readonly locales?: readonly string[]
  /**
   * Content codings of request bodies that a plugin of the service decodes, as `['gzip', 'br']`.
   * @default [] – a coded body is refused
   */
  readonly contentEncodings?: readonly string[]
}

/** The options after defaults. */
export type ResolvedOptions = Required<ContentNegotiationOptions>

/** Fills in the defaults, and refuses what is no list of language tags or of codings. */
export function resolveOptions({ locales = ['en', 'es'], contentEncodings = [] }: ContentNegotiationOptions): ResolvedOptions {
  if (!Array.isArray(locales) || locales.length === 0 || !locales.every(isLanguageTag)) {
    throw new TypeError(
      `content-negotiation: locales is ${JSON.stringify(locales)}. Give language tags, the default one first, as ["en", "pt-BR"].`
    )
  }
  if (!Array.isArray(contentEncodings) || !contentEncodings.every((coding) => typeof coding === 'string' && /^[\w-]+$/.test(coding))) {
    throw new TypeError(
      `content-negotiation: contentEncodings is ${JSON.stringify(contentEncodings)}. Give a list of codings, as ["gzip"].`
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
