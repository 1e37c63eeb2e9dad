/** A text with a form for each plural category of its language (Unicode CLDR). */
export interface PluralText extends Readonly<Partial<Record<Intl.LDMLPluralRule, string | undefined>>> {
  /** The name of the placeholder whose number chooses the form. */
  readonly plural: string
  readonly other: string
}

/** A text in one language, with `{placeholders}`: `{name}` as it is, `{name, number}`, `{name, date}` and `{name, dateTime}` in the form of the language. */
export type Text = string | PluralText

/** The translations of a text, by language tag. English is the default language and is required. */
export type Messages = Readonly<Record<string, Text>> & { readonly en: Text }

/** The values of the placeholders in a message, by name. Dates are those of `{name, date}` and `{name, dateTime}`, also as texts of RFC 3339. */
export type Params = Readonly<Record<string, string | number | bigint | Date>>

type Format = 'number' | 'date' | 'dateTime'
type PlacesOf<Form extends string> = Form extends `${string}{${infer Place}}${infer Rest}` ? Place | PlacesOf<Rest> : never
// Other braces, such as those of JSON, are text.
type NameOf<Place> = Place extends `${infer Name}, ${Format}`
  ? Name
  : Place extends '' | `${string}${' ' | '"' | ':' | '{'}${string}`
    ? never
    : Place
type ValueOf<Place, Plural> =
  NameOf<Place> extends Plural
    ? number | bigint
    : Place extends `${string}, ${infer Shown}`
      ? Shown extends 'number'
        ? number | bigint
        : Date | string
      : string | number | bigint
type FormsOf<Shown> = Shown extends string
  ? Shown
  : Shown extends PluralText
    ? Extract<Shown[Exclude<keyof Shown, 'plural'>], string>
    : never
type PluralOf<Shown> = Shown extends { readonly plural: infer Name } ? Name : never

/** The parameters that a text with `{placeholders}` requires. That of a plural is a number. */
export type TemplateParams<Shown extends Text> =
  string extends FormsOf<Shown>
    ? Params
    : { readonly [Place in PlacesOf<FormsOf<Shown>> as NameOf<Place>]: ValueOf<Place, PluralOf<Shown>> }

const place = /\{(\w+)(?:, (number|date|dateTime))?\}/g
// RFC 3339 §5.6. A date without a time is the same in every time zone.
const rfc3339 = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d))?$/i

const rulesOf = cached((language) => new Intl.PluralRules(language))
const numbersOf = cached((language) => new Intl.NumberFormat(language))
const datesOf = cached((language, timeZone) => new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone }))
const timesOf = cached((language, timeZone) => new Intl.DateTimeFormat(language, { dateStyle: 'long', timeStyle: 'long', timeZone }))

/**
 * Replaces the `{placeholders}` in a text in a language. One without a value is not removed, so that the mistake is visible. A value that does not have the
 * kind of its format is shown as it is.
 */
export function fillTemplate(text: Text, params: Params, language = 'en', timeZone = 'UTC'): string {
  const form = typeof text === 'string' ? text : (text[rulesOf(language).select(Number(params[text.plural]))] ?? text.other)
  return form.replace(place, (whole, name: string, format?: Format) => {
    if (!Object.hasOwn(params, name)) return whole
    const value = params[name] as Params[string]
    if (format === undefined) return String(value)
    return (format === 'number' ? numberText(value, language) : timeText(value, format, language, timeZone)) ?? String(value)
  })
}

/** Returns the forms of a text by plural category; a text without a plural has one, `other`. */
export function formsOf(text: Text): Readonly<Record<string, string>> {
  if (typeof text === 'string') return { other: text }
  const { plural: _plural, ...forms } = text
  return forms as Readonly<Record<string, string>>
}

/** Returns the plural categories of a language, such as `one` and `other` (Unicode CLDR). */
export function pluralCategories(language: string): readonly string[] {
  return rulesOf(language).resolvedOptions().pluralCategories
}

/** Returns the keys of a text in the file of a language, as i18next (JSON v4) writes them: `key`, or `key_one` and so on for the forms of a plural. */
export function fileKeysOf(key: string, english: Text, language: string): readonly string[] {
  return typeof english === 'string' ? [key] : pluralCategories(language).map((category) => `${key}_${category}`)
}

function numberText(value: Params[string], language: string) {
  if (typeof value === 'string' && (value.trim() === '' || Number.isNaN(Number(value)))) return undefined
  // A text is exact, whatever its length.
  return numbersOf(language).format(value as Intl.StringNumericLiteral)
}

function timeText(value: Params[string], format: Format, language: string, timeZone: string) {
  const [text, time] = typeof value === 'string' ? (rfc3339.exec(value) ?? []) : []
  const date = value instanceof Date ? value : new Date(text?.toUpperCase().replace(' ', 'T') ?? Number.NaN)
  if (Number.isNaN(date.getTime())) return undefined
  if (text !== undefined && time === undefined) return datesOf(language, 'UTC').format(date)
  return (format === 'date' ? datesOf : timesOf)(language, timeZone).format(date)
}

// To create one takes ten times as long as to use it. Languages and time zones are those of the service, so there are few.
function cached<Value>(create: (language: string, timeZone: string) => Value): (language: string, timeZone?: string) => Value {
  const known = new Map<string, Value>()
  return (language, timeZone = '') => {
    const key = `${language} ${timeZone}`
    let value = known.get(key)
    if (value === undefined) known.set(key, (value = create(language, timeZone)))
    return value
  }
}
