import type { ErrorDefinition, ErrorList, Retry } from '@concordat/plugin-kit/api-error'
import { fillTemplate, lookupTags, type Messages, type Params, type TextList } from '@concordat/plugin-kit/texts'
import type { RouteOptions } from 'fastify'
import { errorCatalogueErrors } from './errors.ts'
import { generalCodes, generalMessages, generalTexts } from './general-errors.ts'
import { retryOf } from './outcome.ts'
import type { Translations } from './translations.ts'

const { STATUS_CODES } = process.getBuiltinModule('node:http')

/** An error code in the catalogue, with its definition. */
export interface CatalogueEntry extends ErrorDefinition {
  readonly code: string
  readonly retry: Retry
}

/** A text in the language that was found for a locale. */
export interface FoundText {
  readonly text: string
  readonly language: string
}

/** All error codes of a service, each with its status code and messages. */
export interface Catalogue {
  /** The entries, sorted by status code and error code. */
  readonly entries: readonly CatalogueEntry[]
  /** The languages of the service. The first is the default. */
  readonly locales: readonly string[]
  /**
   * Every text that can be sent, by its key in translation files, with the languages that the code has: an error code, `fields.<key>`, `general.<key>` and
   * `texts.<key>`.
   */
  readonly texts: ReadonlyMap<string, Messages>
  /** Returns the entry for an error code, or undefined if the code is unknown. */
  find(code: string): CatalogueEntry | undefined
  /**
   * Returns the most general entry for a status code, with a text that is true for every error of which only that is known. An unregistered status code
   * gets that of 400 or 500.
   */
  ofStatus(statusCode: number): CatalogueEntry
  /** Returns the text of a field error in a locale. */
  fieldText(key: string, locale: string, params: Params): string | undefined
}

/** What error-catalogue needs of a {@link Catalogue} in addition. */
export interface TranslatedCatalogue extends Catalogue {
  /** The texts with the translations of files. */
  readonly translated: ReadonlyMap<string, Messages>
  /** Returns the messages of an error with the translations of files, if a list in the catalogue defines them. */
  translationsOf(messages: object): Messages | undefined
  /**
   * Returns the first text that one of the messages has in the locale, its parents, the default language of the service, or English, in this order, with the
   * values in place of its placeholders. Of several messages, the first with a text wins.
   */
  textIn(locale: string, params: Params, ...messages: readonly (Partial<Messages> | undefined)[]): FoundText | undefined
}

/** The parts of the options that make the texts. */
export interface CatalogueSettings {
  readonly include: readonly ErrorList[]
  readonly texts: readonly TextList[]
  readonly locales: readonly string[]
  readonly timeZone: string
}

/**
 * Returns the catalogue of the lists that plugins have published so far, followed by those in `include`. The first text of each language wins, so a list
 * can add a language; a text in a translation file comes before it. Throws a `TypeError` for an error code with two status codes, now and when a plugin has
 * added a list.
 */
export function growingCatalogue(published: readonly ErrorList[], settings: CatalogueSettings, files: Translations): TranslatedCatalogue {
  const { include, texts, locales, timeZone } = settings
  const chains = new Map(locales.map((locale) => [locale, chainOf(locale, locales[0] as string)]))
  let size = -1
  let merged = mergeLists([], [], files)
  const current = () => {
    if (size !== published.length) merged = mergeLists([...published, ...include], texts, files)
    size = published.length
    return merged
  }
  current()
  return {
    locales,
    get entries() {
      return current().sorted
    },
    get texts() {
      return current().texts
    },
    get translated() {
      return current().translated
    },
    find: (code) => current().entries.get(code),
    ofStatus(statusCode) {
      const registered = STATUS_CODES[statusCode] === undefined ? (statusCode < 500 ? 400 : 500) : statusCode
      return current().general.get(generalCodes.get(registered) ?? '') ?? current().phraseEntry(registered)
    },
    translationsOf: (messages) => current().byDefinition.get(messages),
    textIn,
    fieldText: (key, locale, params) => textIn(locale, params, current().translated.get(`fields.${key}`))?.text
  }

  function textIn(locale: string, params: Params, ...messages: readonly (Partial<Messages> | undefined)[]) {
    for (const language of chains.get(locale) ?? chainOf(locale, locales[0] as string)) {
      for (const one of messages) {
        const text = one?.[language]
        if (text !== undefined) return { text: fillTemplate(text, params, language, timeZone), language }
      }
    }
    return undefined
  }
}

/** Returns the languages in which a text is looked up for a locale: the locale and its parents, then those of the default, then English. */
function chainOf(locale: string, defaultLocale: string): readonly string[] {
  return [...new Set([...withParents(locale), ...withParents(defaultLocale), 'en'])]
}

/** Returns a locale as it is written, followed by its parents (RFC 4647 §3.4). */
export function withParents(locale: string): readonly string[] {
  return [locale, ...Intl.getCanonicalLocales([...lookupTags(locale)])]
}

function mergeLists(lists: readonly ErrorList[], textLists: readonly TextList[], files: Translations) {
  const entries = new Map<string, CatalogueEntry>()
  const texts = new Map<string, Messages>()
  const add = (key: string, messages: Messages) => texts.set(key, { ...messages, ...texts.get(key) })
  for (const { definitions, fieldMessages } of [errorCatalogueErrors, ...lists]) {
    for (const [code, definition] of Object.entries(definitions)) {
      const known = entries.get(code) ?? { code, ...definition, retry: definition.retry ?? retryOf(definition.statusCode) }
      if (known.statusCode !== definition.statusCode) {
        throw new TypeError(
          `error-catalogue: ${code} is defined twice, with the status codes ${known.statusCode} and ${definition.statusCode}. Rename one of the two.`
        )
      }
      entries.set(code, known)
      add(code, definition.message)
    }
    for (const [key, messages] of Object.entries(fieldMessages)) add(`fields.${key}`, messages)
  }
  for (const [key, messages] of Object.entries({ ...generalMessages, ...generalTexts })) add(`general.${key}`, messages)
  for (const list of textLists) {
    for (const [key, messages] of Object.entries(list.texts)) {
      if (texts.has(`texts.${key}`)) throw new TypeError(`error-catalogue: ${key} is in two lists of options.texts. Rename one of the two.`)
      add(`texts.${key}`, messages)
    }
  }
  const translated = new Map([...texts].map(([key, messages]) => [key, { ...messages, ...files.of(key, messages) }]))
  for (const [code, entry] of entries) entries.set(code, { ...entry, message: translated.get(code) as Messages })
  const general = new Map(entries)
  for (const code of Object.keys(generalMessages))
    general.set(code, { ...(entries.get(code) as CatalogueEntry), message: translated.get(`general.${code}`) as Messages })
  return {
    entries,
    general,
    texts,
    translated,
    byDefinition: translatedDefinitions(lists, translated),
    sorted: [...entries.values()].toSorted((a, b) => a.statusCode - b.statusCode || (a.code < b.code ? -1 : 1)),
    phraseEntry: (statusCode: number) => phraseEntry(statusCode, translated.get('general.phrase') as Messages)
  }
}

// An error has the messages of its definition, which know nothing of files. A list may define the error code of another with another text, which keeps it.
function translatedDefinitions(lists: readonly ErrorList[], translated: ReadonlyMap<string, Messages>) {
  const known = new Map<object, Messages>()
  for (const { definitions } of [errorCatalogueErrors, ...lists]) {
    for (const [code, { message }] of Object.entries(definitions)) {
      const all = translated.get(code) as Messages
      known.set(message, JSON.stringify(all.en) === JSON.stringify(message.en) ? all : message)
    }
  }
  return known
}

function phraseEntry(statusCode: number, messages: Messages): CatalogueEntry {
  const phrase = STATUS_CODES[statusCode] as string
  const filled = Object.entries(messages).map(([language, text]) => [language, fillTemplate(text, { phrase }, language)])
  return {
    code: phrase.toUpperCase().replace(/[^A-Z]+/g, '_'),
    statusCode,
    message: Object.fromEntries(filled) as Messages,
    retry: retryOf(statusCode),
    remedy: 'See the documentation of the operation.'
  }
}

/** Throws a `TypeError` for a route whose `config.validationCode` is not the code of a 422 error. */
export function requireValidationCode({ method, url, config }: RouteOptions, catalogue: Catalogue): void {
  const code = config?.validationCode
  if (code === undefined || catalogue.find(code)?.statusCode === 422) return
  throw new TypeError(
    `error-catalogue: ${String(method)} ${url} has config.validationCode ${code}, which is not a 422 error in the catalogue. Add the error list that defines it to options.include.`
  )
}
