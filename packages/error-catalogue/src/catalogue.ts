import { type ErrorDefinition, type ErrorList, fillTemplate, type Messages, type Params } from '@concordat/plugin-kit/api-error'
import type { RouteOptions } from 'fastify'
import { errorCatalogueErrors } from './errors.ts'
import { generalCodes, generalMessages } from './general-errors.ts'

const { STATUS_CODES } = process.getBuiltinModule('node:http')

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
   * Returns the most general entry for a status code, with a text that is true for every error of which only that is known. An unregistered status code
   * gets that of 400 or 500.
   */
  ofStatus(statusCode: number): CatalogueEntry
  /** Returns the text of a field error in a language. */
  fieldText(key: string, locale: string, params: Params): string | undefined
}

/**
 * Returns the catalogue of the lists that plugins have published so far, followed by those in `include`. The first text of each language wins, so a list
 * can add a language. Throws a `TypeError` for an error code with two status codes and for a missing text, now and when a plugin has added a list.
 */
export function growingCatalogue(published: readonly ErrorList[], include: readonly ErrorList[], locales: readonly string[]): Catalogue {
  let size = -1
  let merged = mergeLists([], [])
  const current = () => {
    if (size !== published.length) merged = mergeLists([...published, ...include], locales)
    size = published.length
    return merged
  }
  current()
  return {
    locales,
    get entries() {
      return current().sorted
    },
    find: (code) => current().entries.get(code),
    ofStatus(statusCode) {
      const registered = STATUS_CODES[statusCode] === undefined ? (statusCode < 500 ? 400 : 500) : statusCode
      return current().general.get(generalCodes.get(registered) ?? '') ?? phraseEntry(registered)
    },
    fieldText(key, locale, params) {
      const messages = current().fields.get(key)
      return messages && fillTemplate(messages[locale] ?? messages.en, params)
    }
  }
}

function mergeLists(lists: readonly ErrorList[], locales: readonly string[]) {
  const entries = new Map<string, CatalogueEntry>()
  const fields = new Map<string, Messages>()
  for (const { definitions, fieldMessages } of [errorCatalogueErrors, ...lists]) {
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
  const general = new Map(entries)
  for (const [code, messages] of Object.entries(generalMessages)) {
    const entry = entries.get(code) as CatalogueEntry
    general.set(code, { ...entry, message: { ...entry.message, ...messages } })
  }
  return {
    entries,
    general,
    fields,
    sorted: [...entries.values()].toSorted((a, b) => a.statusCode - b.statusCode || (a.code < b.code ? -1 : 1))
  }
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

/** Throws a `TypeError` for a route whose `config.validationCode` is not the code of a 422 error. */
export function requireValidationCode({ method, url, config }: RouteOptions, catalogue: Catalogue): void {
  const code = config?.validationCode
  if (code === undefined || catalogue.find(code)?.statusCode === 422) return
  throw new TypeError(
    `error-catalogue: ${String(method)} ${url} has config.validationCode ${code}, which is not a 422 error in the catalogue. Add the error list that defines it to options.include.`
  )
}
