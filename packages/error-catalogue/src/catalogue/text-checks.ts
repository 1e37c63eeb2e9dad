import { fileKeysOf } from '@concordat/plugin-kit/texts'
import { type TranslatedCatalogue, withParents } from './catalogue.ts'
import type { Translations } from './translations.ts'

const maxNamedKeys = 20

/**
 * Throws a `TypeError` for a text in a translation file with another form than the text of the code, and for all texts that a locale and its parents lack, one
 * line each. Logs the keys in files that no text has. Called when every plugin has added its texts.
 */
export function requireTexts(catalogue: TranslatedCatalogue, files: Translations, warn: (message: string) => void): void {
  files.requireForms(catalogue.texts)
  const missing = missingTexts(catalogue, files)
  const languages = [...new Set(missing.map(([language]) => language))]
  if (missing.length > 0)
    throw new TypeError(
      `error-catalogue: ${missing.length === 1 ? '1 text is' : `${missing.length} texts are`} missing in options.locales. Run "npx concordat texts ${languages.join(' ')}", and translate them in the folder of options.translations:${missing.map((line) => `\n  ${line.join(': ')}`).join('')}`
    )
  const unknown = files.unknownKeys(catalogue.texts)
  if (unknown.length > 0)
    warn(
      `error-catalogue: no text of this service has these keys: ${unknown.slice(0, maxNamedKeys).join(', ')}${unknown.length > maxNamedKeys ? ', …' : ''}. Remove them with npx concordat texts.`
    )
}

function missingTexts({ locales, translated }: TranslatedCatalogue, files: Translations) {
  return locales.flatMap((locale) => {
    const languages = withParents(locale)
    // What a parent lacks is translated there.
    const isCovered = languages.slice(1).some((parent) => parent !== locale && locales.includes(parent))
    return [...translated].flatMap(([key, messages]) => {
      if (isCovered || languages.some((language) => messages[language] !== undefined)) return []
      return files.missing(locale, fileKeysOf(key, messages.en, locale)).map((one) => [locale, one] as const)
    })
  })
}
