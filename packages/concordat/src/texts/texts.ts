import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { isKnownLanguage, lookupTags } from '@concordat/plugin-kit/texts'
import { printable, Refusal } from 'create-concordat'
import { textsOfService } from './service-texts.ts'
import { changedKey, contentOf, englishFile, type TranslationFile, type UpdatedFile, updatedFile } from './translation-file.ts'

const defaultFolder = 'locales'

/**
 * Writes `en.json` and the translation files of the languages, by default of all in the folder, with every text of the service in the working directory. With
 * `isCheck`, nothing is written. Returns the lines to print, and whether a text is missing, changed, extra or wrong.
 */
export async function texts(
  languages: readonly string[],
  isCheck: boolean,
  cwd = process.cwd()
): Promise<{ text: string; isWrong: boolean }> {
  const unknown = languages.find((language) => !isKnownLanguage(language) || language === 'en')
  if (unknown !== undefined)
    throw new Refusal(
      `"${unknown}" is not a language to translate to. Name one that Intl knows, such as de or pt-BR; English is in the code.`
    )
  const service = await textsOfService(cwd)
  const folder = service.folder ?? join(cwd, defaultFolder)
  const present = languagesIn(folder)
  const chosen = languages.length > 0 ? languages : present
  const english = englishFile(service.texts)
  const before = readFile(join(folder, 'en.json')).texts
  // A language that is not named is marked too, because en.json then no longer tells what has changed.
  const updated = [...new Set([...chosen, ...present])].map((language) => {
    const file = readFile(join(folder, `${language}.json`))
    const hasParentFile = lookupTags(language).some((parent) => parent !== language && [...chosen, ...present].includes(parent))
    return [language, updatedFile(language, file, service.texts, before, hasParentFile)] as const
  })
  if (isCheck)
    return checkResult(
      updated.filter(([language]) => chosen.includes(language)),
      english,
      before
    )
  mkdirSync(folder, { recursive: true })
  const write = (language: string, content: string) => writeFileSync(join(folder, `${language}.json`), content)
  write('en', contentOf(english))
  for (const [language, file] of updated) write(language, contentOf(file.texts, file.changed))
  const place = relative(cwd, folder)
  const lines = [
    `${place}/en.json: ${Object.keys(english).length} texts`,
    ...updated.map(([language, file]) => `${place}/${language}.json: ${summaryOf(file)}`)
  ]
  return { text: lines.join('\n'), isWrong: false }
}

function checkResult(
  updated: readonly (readonly [string, UpdatedFile])[],
  english: Readonly<Record<string, string>>,
  before: TranslationFile['texts']
) {
  const all = [...new Set([...Object.keys(english), ...Object.keys(before)])]
  const lines = [
    ...all
      .filter((key) => english[key] !== before[key])
      .map((key) => `en.json: ${printable(key)} differs from the code. Run npx concordat texts.`),
    ...updated.flatMap(([language, { missing, changed, removed, problems }]) => [
      ...missing.map((key) => `${language}.json: ${key} is not translated.`),
      ...Object.keys(changed).map(
        (key) => `${language}.json: the English text of ${key} has changed. Change the translation, or remove its line in ${changedKey}.`
      ),
      ...removed.map((key) => `${language}.json: no text has the key ${printable(key)}. Run npx concordat texts to remove it.`),
      ...problems.map((problem) => `${language}.json: ${printable(problem)}`)
    ])
  ]
  return lines.length > 0 ? { text: lines.join('\n'), isWrong: true } : { text: 'Every text is translated.', isWrong: false }
}

function summaryOf({ missing, changed, removed, problems }: UpdatedFile) {
  const parts = [
    `${missing.length} to translate`,
    ...(Object.keys(changed).length > 0 ? [`${Object.keys(changed).length} in ${changedKey}, because the English text changed`] : []),
    ...(removed.length > 0 ? [`removed ${removed.map((key) => printable(key)).join(', ')}`] : []),
    ...problems.map((problem) => printable(problem))
  ]
  return parts.join('; ')
}

function languagesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .flatMap((name) => (name.endsWith('.json') && name !== 'en.json' ? [name.slice(0, -'.json'.length)] : []))
      .filter(isKnownLanguage)
  } catch {
    return []
  }
}

function readFile(path: string): TranslationFile {
  const content = parsed(path)
  const { [changedKey]: changed = {}, ...all } = content as Record<string, unknown>
  if (!hasTexts(all) || !hasTexts(changed)) throw new Refusal(`${path} is not a JSON object of texts by key. Correct it.`)
  return { texts: all, changed }
}

function parsed(path: string): object {
  try {
    const content: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return typeof content === 'object' && content !== null && !Array.isArray(content) ? content : { '': content }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new Refusal(`${path} cannot be read: ${(error as Error).message}. Correct it.`)
  }
}

function hasTexts(value: unknown): value is Readonly<Record<string, string>> {
  return typeof value === 'object' && value !== null && Object.values(value).every((text) => typeof text === 'string')
}
