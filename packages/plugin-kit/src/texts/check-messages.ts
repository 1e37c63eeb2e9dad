import { formsOf, type Messages, pluralCategories, type Text } from './text.ts'

const categories = new Set(['zero', 'one', 'two', 'few', 'many', 'other'])
const knownLanguages = new Map<string, boolean>()

/** Returns whether the plural forms and formats of a language are known: `Intl` uses those of another language for one that it does not know. */
export function isKnownLanguage(language: string): boolean {
  const known = knownLanguages.get(language) ?? isSupported(language)
  knownLanguages.set(language, known)
  return known
}

function isSupported(language: string) {
  try {
    return Intl.PluralRules.supportedLocalesOf(language).length > 0
  } catch {
    return false
  }
}

/** Throws a `TypeError` for the first text that {@link problemOf} finds wrong. */
export function requireMessages(list: Readonly<Record<string, Messages>>): void {
  for (const [name, messages] of Object.entries(list)) {
    if (messages.en === undefined) throw new TypeError(`plugin-kit: ${name} has no text in "en". Add it.`)
    for (const [language, text] of Object.entries(messages)) {
      const problem = problemOf(name, language, text, messages.en)
      if (problem !== undefined) throw new TypeError(`plugin-kit: ${problem}`)
    }
  }
}

/**
 * Returns what is wrong with the text of this name in a language, compared with the English text, in whole sentences: the language is unknown, a form of a
 * plural is missing, or the placeholders differ.
 */
export function problemOf(name: string, language: string, text: Text, english: Text): string | undefined {
  if (!isKnownLanguage(language))
    return `${name} has a text in "${language}", whose plural forms are unknown. Use the tag of a language that Intl knows, such as "pt-BR".`
  return problemOfPlural(name, language, text) ?? problemOfPlaces(name, language, text, english)
}

function problemOfPlural(name: string, language: string, text: Text) {
  if (typeof text === 'string') return undefined
  if (typeof text !== 'object' || text === null || typeof text.plural !== 'string')
    return `${name} must be in "${language}" a text, or the forms of a plural, for example { plural: 'limit', one: '{limit} file', other: '{limit} files' }.`
  const forms = formsOf(text)
  const unknown = Object.keys(forms).find((form) => !categories.has(form))
  if (unknown !== undefined) return `${name} has the member "${unknown}" in "${language}", which is not a plural form. Remove it.`
  const needed = pluralCategories(language)
  const missing = needed.filter((form) => typeof forms[form] !== 'string')
  if (missing.length > 0)
    return `${name} lacks the plural form ${quoted(missing)} in "${language}". Add it: "${language}" has ${quoted(needed)}.`
  if (Object.values(forms).some((form) => namesIn(form).has(`{${text.plural}}`))) return undefined
  return `${name} is a plural by "${text.plural}" in "${language}", but no form has {${text.plural}}. Add it to the forms, or use a text without forms.`
}

function problemOfPlaces(name: string, language: string, text: Text, english: Text) {
  const forms = formsOf(text)
  const odd = Object.values(forms).flatMap((form) => form.match(/\{\w+\s*,(?! (?:number|date|dateTime)\})[^{}]*\}/g) ?? [])
  if (odd.length > 0)
    return `${name} has the unknown format ${odd[0]} in "${language}". Write {name}, {name, number}, {name, date} or {name, dateTime}.`
  const wanted = namesIn(Object.values(formsOf(english)).join(' '))
  for (const [category, form] of Object.entries(forms)) {
    const found = namesIn(form)
    // A form such as "one file" does not need the number.
    const mayLack = category !== 'other' && typeof text !== 'string' ? `{${text.plural}}` : ''
    const lacks = [...wanted].some((one) => one !== mayLack && !found.has(one))
    if (lacks || [...found].some((one) => !wanted.has(one)))
      return `the placeholders of ${name} differ: "en" has ${listed(wanted)}, "${language}" has ${listed(found)}. Use the same placeholders in every language.`
  }
  return undefined
}

// A number can be shown with or without a format, a date cannot.
function namesIn(form: string): ReadonlySet<string> {
  const places = form.matchAll(/\{(\w+)(?:, (number|date|dateTime))?\}/g)
  return new Set(Array.from(places, ([, name, format = 'number']) => (format === 'number' ? `{${name}}` : `{${name}, date}`)).toSorted())
}

function listed(names: ReadonlySet<string>) {
  return [...names].join(' ') || 'none'
}

function quoted(names: readonly string[]) {
  return names.map((name) => `"${name}"`).join(', ')
}
