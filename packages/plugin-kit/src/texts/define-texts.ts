import { requireMessages } from './check-messages.ts'
import type { Messages } from './text.ts'

/** Texts of a service that are not errors, by key. */
export interface TextList<Texts extends Readonly<Record<string, Messages>> = Readonly<Record<string, Messages>>> {
  readonly texts: Texts
}

/**
 * Defines texts of a service, each by language, for the option `texts` of the catalogue and `request.text`. English is required. Throws a `TypeError` for a
 * missing plural form, an unknown language, and languages with different `{placeholders}`.
 *
 * @example
 * defineTexts({ tooMany: { en: { plural: 'limit', one: 'Send at most {limit} file.', other: 'Send at most {limit, number} files.' } } })
 */
export function defineTexts<const Texts extends Readonly<Record<string, Messages>>>(texts: Texts): TextList<Texts> {
  requireMessages(texts)
  return { texts }
}
