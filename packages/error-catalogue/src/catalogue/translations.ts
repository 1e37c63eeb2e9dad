import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from '@concordat/plugin-kit/json-schema'
import { fileKeysOf, type Messages, problemOf, type Text } from '@concordat/plugin-kit/texts'

type TranslationFile = Readonly<Record<string, string>>

/** The translations in the files of a folder. */
export interface Translations {
  /** Returns the translations of a text, by language. Without all forms of a plural, it is not translated. */
  of(key: string, messages: Messages): Readonly<Record<string, Text>>
  /** Returns those of the keys that have no translation in the file of a language. */
  missing(language: string, keys: readonly string[]): readonly string[]
  /** Throws a `TypeError` for a plural form that the language does not have, and for other placeholders than those of the English text. */
  requireForms(texts: ReadonlyMap<string, Messages>): void
  /** Returns the keys in the files that no text has, each with the name of its file. */
  unknownKeys(texts: ReadonlyMap<string, Messages>): readonly string[]
}

/**
 * Reads the files `<language>.json` of a folder for the languages: i18next JSON (v4) with flat keys, in which an empty text is not translated. Without a
 * folder, and where it does not exist, there are none. Throws a `TypeError` for a file that is not of this form. English is what the code says, so `en.json`
 * is not read.
 */
export function readTranslations(folder: string | undefined, languages: readonly string[]): Translations {
  const names = folder === undefined ? [] : namesIn(folder)
  const files = new Map<string, TranslationFile>()
  for (const language of languages) {
    const name = names.find((one) => one.toLowerCase() === `${language.toLowerCase()}.json`)
    if (name !== undefined && language !== 'en') files.set(language, readFile(join(folder as string, name)))
  }
  return { of, missing, requireForms, unknownKeys }

  function of(key: string, { en }: Messages) {
    const translated: Record<string, Text> = {}
    for (const [language, file] of files) {
      const text = textIn(file, key, en, language)
      if (text !== undefined) translated[language] = text
    }
    return translated
  }

  function missing(language: string, keys: readonly string[]) {
    const file = files.get(language) ?? {}
    return keys.filter((key) => (file[key] ?? '') === '')
  }

  function requireForms(texts: ReadonlyMap<string, Messages>) {
    for (const [language, file] of files) {
      for (const key of Object.keys(file)) requireForm(`${language}.json`, language, key, texts)
      for (const [key, { en }] of texts) {
        const text = textIn(file, key, en, language)
        const problem = text === undefined ? undefined : problemOf(key, language, text, en)
        if (problem !== undefined) throw new TypeError(`error-catalogue: ${language}.json: ${problem}`)
      }
    }
  }

  function unknownKeys(texts: ReadonlyMap<string, Messages>) {
    return [...files].flatMap(([language, file]) => {
      const known = new Set([...texts].flatMap(([key, { en }]) => fileKeysOf(key, en, language)))
      return Object.keys(file).flatMap((key) => (known.has(key) ? [] : [`${language}.json ${key}`]))
    })
  }
}

// A folder that does not exist yet is written by the command, for which the service must start.
function namesIn(folder: string) {
  try {
    return readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw new TypeError(`error-catalogue: the folder of options.translations cannot be read: ${(error as Error).message}.`, {
      cause: error
    })
  }
}

function readFile(path: string): TranslationFile {
  const content = parsed(path)
  if (!isObject(content) || Array.isArray(content)) throw invalid(path, 'is not a JSON object of texts by key')
  // What the command notes for translators.
  const { '@changed': _changed, ...texts } = content
  const odd = Object.keys(texts).find((key) => typeof texts[key] !== 'string')
  if (odd !== undefined)
    throw invalid(path, `has a value at ${JSON.stringify(odd)} that is not a text. Keys are flat, such as "fields.required"`)
  return texts as TranslationFile
}

function parsed(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw invalid(path, `is not valid JSON: ${(error as Error).message}`)
  }
}

function invalid(path: string, problem: string) {
  return new TypeError(`error-catalogue: ${path} ${problem}. Correct it, or write it again with npx concordat texts.`)
}

function textIn(file: TranslationFile, key: string, english: Text, language: string): Text | undefined {
  const keys = fileKeysOf(key, english, language)
  if (keys.some((one) => (file[one] ?? '') === '')) return undefined
  if (typeof english === 'string') return file[key]
  const forms = keys.map((one) => [one.slice(key.length + 1), file[one]])
  return { plural: english.plural, ...Object.fromEntries(forms) } as Text
}

function requireForm(name: string, language: string, key: string, texts: ReadonlyMap<string, Messages>) {
  const [, base = '', form] = /^(.*)_(zero|one|two|few|many|other)$/.exec(key) ?? []
  const english = texts.get(base)?.en
  if (english === undefined || texts.has(key)) return
  const known = fileKeysOf(base, english, language)
  if (!known.includes(key))
    throw new TypeError(
      `error-catalogue: ${name}: ${key} has the plural form "${form}", which ${base} does not have in "${language}". Use ${known.join(', ')}.`
    )
}
