import { STATUS_CODES } from 'node:http'
import { type ErrorDefinition, type ErrorList, fillTemplate, type Messages, type Params } from '@concordat/api-error'
import { httpErrors } from './errors.ts'

/** One published code. */
export interface CatalogueEntry extends ErrorDefinition {
  readonly code: string
}

/** All codes that a service can answer with, each with its status and its texts. */
export interface Catalogue {
  /** The entries, sorted by status and code. */
  readonly entries: readonly CatalogueEntry[]
  /** The languages in which every text exists; the first is the default. */
  readonly locales: readonly string[]
  /** The entry of a code. */
  find(code: string): CatalogueEntry | undefined
  /** The most general entry of a status: what an error without a known code becomes. Unregistered statuses become 400 or 500. */
  ofStatus(statusCode: number): CatalogueEntry
  /** The text of a field error in a language. */
  fieldText(key: string, locale: string, params: Params): string | undefined
}

// Statuses with several codes name the one that says least; the others take the code that alone has the status.
const generalCodes: Readonly<Record<number, string>> = {
  400: 'MALFORMED_REQUEST',
  403: 'FORBIDDEN',
  501: 'METHOD_NOT_IMPLEMENTED',
  503: 'SERVICE_UNAVAILABLE'
}

/**
 * Merges error lists into one catalogue. A code may stand in several lists when its status is the same; the first text of
 * each language wins, so that a list may bring another language for codes that are known already.
 * Throws a `TypeError` for a code with two statuses, and for a text that is missing in one of the languages.
 */
export function buildCatalogue(include: readonly ErrorList[], locales: readonly string[]): Catalogue {
  const entries = new Map<string, CatalogueEntry>()
  const fields = new Map<string, Messages>()
  for (const { definitions, fieldMessages } of [httpErrors, ...include]) {
    for (const [code, definition] of Object.entries(definitions)) {
      const known = entries.get(code) ?? { code, ...definition }
      if (known.statusCode !== definition.statusCode) {
        throw new TypeError(
          `The error code ${code} is defined with the statuses ${known.statusCode} and ${definition.statusCode}. Rename one.`
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

// Only this package's own list: a service's 409 says something special, and a foreign 409 must not borrow its words.
function soleHttpCode(statusCode: number): string | undefined {
  return Object.entries(httpErrors.definitions).find(([, definition]) => definition.statusCode === statusCode)?.[0]
}

function phraseEntry(statusCode: number): CatalogueEntry {
  const phrase = STATUS_CODES[statusCode] as string
  return {
    code: phrase.toUpperCase().replace(/[^A-Z]+/g, '_'),
    statusCode,
    message: {
      en: `The request was answered with "${phrase}". See the documentation of the operation.`,
      es: `La petición se respondió con "${phrase}". Consulte la documentación de la operación.`
    },
    remedy: 'See the documentation of the operation.'
  }
}

function requireLocales(name: string, messages: Messages, locales: readonly string[]) {
  const missing = locales.filter((locale) => messages[locale] === undefined)
  if (missing.length > 0)
    throw new TypeError(
      `${name} has no text in ${missing.map((locale) => `"${locale}"`).join(', ')}. Add it to its message, or take the language out of locales.`
    )
}
