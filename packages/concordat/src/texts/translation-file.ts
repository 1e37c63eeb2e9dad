import { fileKeysOf, lookupTags, type Messages, problemOf, type Text } from '@concordat/plugin-kit/texts'

/** The key of what `npx concordat texts` notes for translators: the translations whose English text has changed. */
export const changedKey = '@changed'

/** A translation file: texts by key, empty if it is not translated. */
export interface TranslationFile {
  readonly texts: Readonly<Record<string, string>>
  /** By key, the translations as they were when their English text changed. */
  readonly changed: Readonly<Record<string, string>>
}

/** A translation file as it should be, with what differs. */
export interface UpdatedFile extends TranslationFile {
  readonly missing: readonly string[]
  /** The keys of the file that no text has. */
  readonly removed: readonly string[]
  /** What is wrong with the texts that differ from the English text in their placeholders. */
  readonly problems: readonly string[]
}

type Texts = Readonly<Record<string, Messages>>

/** Returns the English texts of the code, as the file `en.json`. */
export function englishFile(texts: Texts): Readonly<Record<string, string>> {
  return sorted(Object.entries(texts).flatMap(([key, { en }]) => fileKeysOf(key, en, 'en').map((one) => [one, formIn(en, key, one)])))
}

/**
 * Returns the file of a language with a key for each text that needs one, and the translations that it had. `isNeeded` tells whether a language, which is not
 * in the code, needs a translation. A translation whose English text differs from that of `before` is marked.
 */
export function updatedFile(
  language: string,
  file: TranslationFile,
  texts: Texts,
  before: Readonly<Record<string, string>>,
  hasParentFile: boolean
): UpdatedFile {
  const entries = Object.entries(texts)
  const keys = new Map(entries.flatMap(([key, { en }]) => fileKeysOf(key, en, language).map((one) => [one, key] as const)))
  const needed = [...keys].filter(([, key]) => !hasParentFile && !isInCode(language, texts[key] as Messages)).map(([one]) => one)
  const kept = [...keys.keys()].filter((one) => (file.texts[one] ?? '') !== '')
  const english = new Set(entries.flatMap(([key, { en }]) => (hasChanged(key, en, before) ? [key] : [])))
  const changed = kept.filter((one) => english.has(keys.get(one) as string) || file.changed[one] === file.texts[one])
  return {
    texts: sorted([...needed.map((one) => [one, '']), ...kept.map((one) => [one, file.texts[one] as string])]),
    changed: sorted(changed.map((one) => [one, file.texts[one] as string])),
    missing: needed.filter((one) => !kept.includes(one)),
    removed: Object.keys(file.texts).filter((one) => !keys.has(one)),
    problems: entries.flatMap(([key, { en }]) => problemIn(key, en, language, file.texts) ?? [])
  }
}

/** Returns the content of a file. */
export function contentOf(texts: Readonly<Record<string, string>>, changed: Readonly<Record<string, string>> = {}): string {
  const marks = Object.keys(changed).length > 0 ? { [changedKey]: changed } : {}
  return `${JSON.stringify({ ...marks, ...texts }, null, 2)}\n`
}

function isInCode(language: string, messages: Messages) {
  return [language, ...lookupTags(language)].some((one) => messages[one] !== undefined)
}

// Of a plural, a change of one form concerns all forms of another language.
function hasChanged(key: string, en: Text, before: Readonly<Record<string, string>>) {
  return fileKeysOf(key, en, 'en').some((one) => before[one] !== undefined && before[one] !== formIn(en, key, one))
}

function formIn(text: Text, key: string, one: string): string {
  return typeof text === 'string' ? text : ((text as unknown as Readonly<Record<string, string>>)[one.slice(key.length + 1)] as string)
}

function problemIn(key: string, en: Text, language: string, texts: Readonly<Record<string, string>>) {
  const keys = fileKeysOf(key, en, language)
  const forms = keys.flatMap((one) => ((texts[one] ?? '') === '' ? [] : [[one.slice(key.length + 1), texts[one] as string]]))
  if (forms.length < keys.length) return undefined
  const text = typeof en === 'string' ? (texts[key] as string) : ({ plural: en.plural, ...Object.fromEntries(forms) } as Text)
  return problemOf(key, language, text, en)
}

function sorted(entries: readonly (readonly string[])[]): Readonly<Record<string, string>> {
  return Object.fromEntries([...entries].toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)))
}
