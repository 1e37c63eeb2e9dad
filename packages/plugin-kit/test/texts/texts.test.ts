import { defineErrors } from '@concordat/plugin-kit/api-error'
import { defineTexts, fileKeysOf, fillTemplate, type Messages, pluralCategories, type Text } from '@concordat/plugin-kit/texts'
import t from 'tap'

// The number of each row, with the plural category in each language (Unicode CLDR).
const languages = ['en', 'es', 'de', 'fr', 'pl', 'ar'] as const
const counts: readonly (readonly [count: number | bigint | string, ...categories: string[]])[] = [
  [0, 'other', 'other', 'other', 'one', 'many', 'zero'],
  [1, 'one', 'one', 'one', 'one', 'one', 'one'],
  [1.5, 'other', 'other', 'other', 'one', 'other', 'other'],
  [2, 'other', 'other', 'other', 'other', 'few', 'two'],
  [5, 'other', 'other', 'other', 'other', 'many', 'few'],
  [21, 'other', 'other', 'other', 'other', 'many', 'many'],
  [1_000_000, 'other', 'many', 'other', 'many', 'many', 'other'],
  [-1, 'one', 'one', 'one', 'one', 'one', 'one'],
  [1n, 'one', 'one', 'one', 'one', 'one', 'one'],
  [2_000_000n, 'other', 'many', 'other', 'many', 'many', 'other'],
  ['1', 'one', 'one', 'one', 'one', 'one', 'one'],
  ['no number', 'other', 'other', 'other', 'other', 'other', 'other']
]

const allForms = (language: string) =>
  ({
    plural: 'count',
    ...Object.fromEntries(pluralCategories(language).map((category) => [category, `${category} {count}`]))
  }) as unknown as Text

t.test('a number chooses the form of its plural category, in each language [G1]', async (t) => {
  for (const [count, ...categories] of counts)
    for (const [at, language] of languages.entries())
      t.equal(fillTemplate(allForms(language), { count }, language), `${categories[at]} ${count}`, `${typeof count} ${count} ${language}`)
  t.equal(fillTemplate(allForms('en'), {}), 'other {count}', 'without the number')
})

// Spaces that do not break a line differ between releases of Unicode CLDR.
const plain = (text: string) => text.replaceAll(/[\u00a0\u202f]/g, ' ')

t.test('numbers and dates have the form of the language, and other values are shown as they are', async (t) => {
  const at = new Date('2026-03-01T23:30:00Z')
  const cases: readonly (readonly [text: string, value: never, language: string, timeZone: string, shown: string])[] = (
    [
      ['{a}', 1_234_567, 'de', 'UTC', '1234567'],
      ['{a, number}', 1_234_567, 'en', 'UTC', '1,234,567'],
      ['{a, number}', 1_234_567.5, 'de', 'UTC', '1.234.567,5'],
      ['{a, number}', 1_234_567, 'fr', 'UTC', '1 234 567'],
      ['{a, number}', 1234, 'es', 'UTC', '1234'],
      ['{a, number}', 12_345, 'es', 'UTC', '12.345'],
      ['{a, number}', 9_007_199_254_740_993n, 'en', 'UTC', '9,007,199,254,740,993'],
      ['{a, number}', '12345678901234567890.5', 'en', 'UTC', '12,345,678,901,234,567,890.5'],
      ['{a, number}', 'many', 'en', 'UTC', 'many'],
      ['{a, number}', '', 'en', 'UTC', ''],
      ['{a, date}', at, 'en', 'UTC', 'March 1, 2026'],
      ['{a, date}', at, 'de', 'Europe/Berlin', '2. März 2026'],
      ['{a, date}', '2026-03-01T23:30:00Z', 'es', 'UTC', '1 de marzo de 2026'],
      ['{a, date}', '2026-03-01t23:30:00+05:00', 'en', 'UTC', 'March 1, 2026'],
      ['{a, date}', '2026-03-01', 'en', 'America/New_York', 'March 1, 2026'],
      ['{a, dateTime}', '2026-03-01', 'en', 'America/New_York', 'March 1, 2026'],
      ['{a, dateTime}', at, 'en', 'UTC', 'March 1, 2026 at 11:30:00 PM UTC'],
      ['{a, dateTime}', '2026-03-01 23:30:00.5Z', 'de', 'Europe/Berlin', '2. März 2026 um 00:30:00 MEZ'],
      ['{a, date}', '2026-03-01T23:30:00', 'en', 'UTC', '2026-03-01T23:30:00'],
      ['{a, date}', '2026-13-01', 'en', 'UTC', '2026-13-01'],
      ['{a, date}', 'soon', 'en', 'UTC', 'soon'],
      ['{a, date}', 7, 'en', 'UTC', '7'],
      ['{a, date}', new Date(Number.NaN), 'en', 'UTC', 'Invalid Date'],
      ['{a, other} { "a": 1 } {}', 1, 'en', 'UTC', '{a, other} { "a": 1 } {}'],
      ['{a} {a}', '{b} $& {a}', 'en', 'UTC', '{b} $& {a} {b} $& {a}'],
      ['"{a}"', '\u05e9\u05dc\u05d5\u05dd', 'en', 'UTC', '"\u05e9\u05dc\u05d5\u05dd"']
    ] as const
  ).map((row) => row as never)
  for (const [text, a, language, timeZone, shown] of cases)
    t.equal(plain(fillTemplate(text, { a }, language, timeZone)), shown, `${text} ${String(a)} ${language} ${timeZone}`)
})

const en = { plural: 'limit', one: '{limit} file', other: '{limit, number} files' } as const

t.test('a text that could not be sent in a language is refused where it is defined', async (t) => {
  const es = { plural: 'limit', one: '{limit} archivo', many: '{limit} de archivos', other: '{limit} archivos' }
  const fine: readonly Messages[] = [
    { en, es },
    { en, es: { ...es, one: 'un archivo' } },
    { en, es: 'Archivos: {limit}' },
    { en: 'Files: {limit}', es },
    { en: 'Until {at, date}.', de: 'Bis {at, dateTime}.' },
    { en: 'Send { "a": 1 }.', de: 'Senden Sie {}.' },
    { en, de: { ...es, one: '{limit} Datei', other: '{limit} Dateien' } }
  ]
  for (const messages of fine) t.doesNotThrow(() => defineTexts({ messages }), JSON.stringify(messages))
  const wrong: readonly (readonly [messages: unknown, message: RegExp | string])[] = [
    [{ es: 'Hola' }, 'files has no text in "en". Add it.'],
    [
      { en, es: { plural: 'limit', one: '{limit} archivo', other: '{limit} archivos' } },
      'files lacks the plural form "many" in "es". Add it: "es" has "one", "many", "other".'
    ],
    [{ en, pl: { ...en } }, /lacks the plural form "few", "many" in "pl"/],
    [{ en: { ...en, ones: 'x' } }, /has the member "ones" in "en", which is not a plural form\. Remove it\./],
    [{ en: { ...en, plural: 'count' } }, /is a plural by "count" in "en", but no form has \{count\}/],
    [{ en, es: { ...es, other: 'archivos' } }, /the placeholders of files differ: "en" has \{limit\}, "es" has none/],
    [{ en, es: { ...es, other: '{limit} de {max}' } }, /"es" has \{limit\} \{max\}/],
    [{ en: 'Until {at, date}.', de: 'Bis {at}.' }, /"en" has \{at, date\}, "de" has \{at\}/],
    [{ en: 'Until {at, datum}.' }, /has the unknown format \{at, datum\} in "en"\. Write \{name\}, \{name, number\}/],
    [{ en: 'Until {at,date}.' }, /has the unknown format \{at,date\}/],
    [{ en: 'Hi', xx: 'Hi' }, /has a text in "xx", whose plural forms are unknown\. Use the tag of a language that Intl knows/],
    [{ en: 'Hi', e: 'Hi' }, /has a text in "e"/],
    [{ en: 7 }, /files must be in "en" a text, or the forms of a plural/],
    [{ en: 'Hi', es: null }, /files must be in "es" a text/],
    [{ en: { one: 'file', other: 'files' } }, /files must be in "en" a text, or the forms of a plural, for example/]
  ]
  for (const [messages, message] of wrong) {
    const title = JSON.stringify(messages)
    t.throws(
      () => defineTexts({ files: messages as Messages }),
      { message: typeof message === 'string' ? `plugin-kit: ${message}` : message },
      title
    )
    t.throws(() => defineErrors({}, { files: messages as Messages }), TypeError, title)
    t.throws(() => defineErrors({ FILES: { statusCode: 422, message: messages as Messages, remedy: '' } }), TypeError, title)
  }
})

t.test('the keys of files are those of i18next', async (t) => {
  t.strictSame(fileKeysOf('GONE', 'Gone.', 'pl'), ['GONE'])
  t.strictSame(fileKeysOf('texts.tooMany', en, 'en'), ['texts.tooMany_one', 'texts.tooMany_other'])
  t.strictSame([...fileKeysOf('A', en, 'ar')].toSorted(), ['A_few', 'A_many', 'A_one', 'A_other', 'A_two', 'A_zero'])
})

t.test('an error has the English form for its number', async (t) => {
  const errors = defineErrors({ TOO_MANY: { statusCode: 422, message: { en }, remedy: '' } }, { tooMany: { en } })
  for (const [limit, text] of [
    [1, '1 file'],
    [1n, '1 file'],
    [2000, '2,000 files']
  ] as const) {
    const error = errors.create('TOO_MANY', { params: { limit }, errors: [{ field: 'body.a', key: 'tooMany', params: { limit } }] })
    t.strictSame([error.message, error.errors[0]?.message], [text, text])
  }
})
