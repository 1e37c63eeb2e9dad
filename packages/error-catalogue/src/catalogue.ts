import { STATUS_CODES } from 'node:http'
import { type ErrorDefinition, type ErrorList, fillTemplate, type Messages, type Params } from '@concordat/api-error'
import { errorCatalogueErrors } from './errors.ts'

/** An error code in the catalogue, with its definition. */
export interface CatalogueEntry extends ErrorDefinition {
  readonly code: string
}

/** All error codes of a service, each with its status code and messages. */
export interface Catalogue {
  /** The entries, sorted by status code and error code. */
  readonly entries: readonly CatalogueEntry[]
  /** The languages in which every text exists. The first is the default. */
  readonly locales: readonly string[]
  /** Returns the entry for an error code, or undefined if the code is unknown. */
  find(code: string): CatalogueEntry | undefined
  /**
   * Returns the most general entry for a status code, for errors without a known error code. For an unregistered status code this is the
   * entry of 400 or 500.
   */
  ofStatus(statusCode: number): CatalogueEntry
  /** Returns the text of a field error in a language. */
  fieldText(key: string, locale: string, params: Params): string | undefined
}

// The most general error code of each status code with several. Other status codes use their only error code.
const generalCodes: Readonly<Record<number, string>> = {
  400: 'MALFORMED_REQUEST',
  403: 'FORBIDDEN',
  501: 'METHOD_NOT_IMPLEMENTED',
  503: 'SERVICE_UNAVAILABLE'
}

/**
 * Returns the catalogue of the error lists that plugins have published so far, followed by the lists in `include`. A plugin that is
 * registered later can publish more. Throws a `TypeError` like `buildCatalogue`, now and at each use after a list was added.
 */
export function growingCatalogue(published: readonly ErrorList[], include: readonly ErrorList[], locales: readonly string[]): Catalogue {
  let size = published.length
  let built = buildCatalogue([...published, ...include], locales)
  function current() {
    if (size === published.length) return built
    built = buildCatalogue([...published, ...include], locales)
    size = published.length
    return built
  }
  return {
    locales,
    get entries() {
      return current().entries
    },
    find: (code) => current().find(code),
    ofStatus: (statusCode) => current().ofStatus(statusCode),
    fieldText: (key, locale, params) => current().fieldText(key, locale, params)
  }
}

/**
 * Merges error lists into a catalogue. An error code can be in several lists if its status code is the same. The first text of
 * each language wins, so a list can add another language for error codes that are already defined.
 * Throws a `TypeError` for an error code with two status codes and for a text that is missing in one of the languages.
 */
function buildCatalogue(include: readonly ErrorList[], locales: readonly string[]): Catalogue {
  const entries = new Map<string, CatalogueEntry>()
  const fields = new Map<string, Messages>()
  for (const { definitions, fieldMessages } of [errorCatalogueErrors, ...include]) {
    for (const [code, definition] of Object.entries(definitions)) {
      const known = entries.get(code) ?? { code, ...definition }
      if (known.statusCode !== definition.statusCode) {
        throw new TypeError(
          `error-catalogue: ${code} is defined twice, with the status codes ${known.statusCode} and ${definition.statusCode}. Rename one of the two.`
        )
      }
      entries.set(code, { ...known, message: { ...definition.message, ...known.message } })
    }
    for (const [key, messages] of Object.entries(fieldMessages)) fields.set(key, { ...messages, ...fields.get(key) })
  }
  for (const [code, { message }] of entries) requireLocales(code, message, locales)
  for (const [key, messages] of fields) requireLocales(key, messages, locales)
  const sorted = [...entries.values()].toSorted((a, b) => a.statusCode - b.statusCode || (a.code < b.code ? -1 : 1))
  const byStatus = new Map<number, CatalogueEntry>()

  function ofStatus(statusCode: number): CatalogueEntry {
    const registered = STATUS_CODES[statusCode] === undefined ? (statusCode < 500 ? 400 : 500) : statusCode
    let entry = byStatus.get(registered)
    if (entry === undefined) {
      entry = entries.get(generalCodes[registered] ?? soleHttpCode(registered) ?? '') ?? phraseEntry(registered)
      byStatus.set(registered, entry)
    }
    return entry
  }
  return {
    entries: sorted,
    locales,
    find: (code) => entries.get(code),
    ofStatus,
    fieldText(key, locale, params) {
      const messages = fields.get(key)
      return messages && fillTemplate(messages[locale] ?? messages.en, params)
    }
  }
}

// Only the list of this package: the text of a 409 that a service defined is too specific for other 409 errors.
function soleHttpCode(statusCode: number): string | undefined {
  return Object.entries(errorCatalogueErrors.definitions).find(([, definition]) => definition.statusCode === statusCode)?.[0]
}

function phraseEntry(statusCode: number): CatalogueEntry {
  const phrase = STATUS_CODES[statusCode] as string
  return {
    code: phrase.toUpperCase().replace(/[^A-Z]+/g, '_'),
    statusCode,
    message: {
      en: `The request failed with "${phrase}". See the documentation of the operation.`,
      es: `La petición falló con "${phrase}". Consulte la documentación de la operación.`
    },
    remedy: 'See the documentation of the operation.'
  }
}

function requireLocales(name: string, messages: Messages, locales: readonly string[]) {
  const missing = locales.filter((locale) => messages[locale] === undefined)
  if (missing.length > 0)
    throw new TypeError(
      `error-catalogue: ${name} has no text in ${missing.map((locale) => `"${locale}"`).join(', ')}. Add it, or change options.locales.`
    )
}
