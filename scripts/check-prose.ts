// No text has words that the table "Words to avoid" of CONTRIBUTING.md lists, in any inflection: Markdown outside of code, and the sources.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { proseOf } from './markdown.ts'
import { reportProblems } from './run.ts'
import { filesUnder, repository } from './workspace.ts'

/** A row of the table. */
interface Avoided {
  readonly words: string
  readonly instead: string
  readonly pattern: RegExp
}

const files = '{*.md,{.changeset,docs,examples,packages,proofs,scripts}/**/*.{md,ts,mjs}}'
// Written by scripts from the sources, which are checked; a record of what was; and the tests of this check, which write the words.
const notChecked = /^docs\/(api\/|errors)|CHANGELOG\.md$|\/test\/client\/|^scripts\/test\/prose\.test\.ts$/
// "There is no X" and comparisons are standard English; no-store and the like, and a text of one word or before an escape, are names.
const allowed = /\bthere\s+\w+\s+no\b|\bno\s+(longer|more|less|fewer|later|earlier|different)\b|\bno-\w|(['"])\w+\2$|\w\\$/i
const forms: Readonly<Record<string, string>> = {
  is: 'is|are|was|were|be|been|being',
  gives: 'give|gives|gave|given|giving',
  makes: 'make|makes|made|making',
  speaks: 'speak|speaks|spoke|spoken|speaking',
  its: 'its|their|his|her|your|our|my|the',
  time: 'times?',
  X: '[\\w-]+'
}

/** Returns the rows of the table in a text. A cell has several phrases between commas, and what is in brackets explains them. */
export function avoidedWords(contributing: string): Avoided[] {
  const [, section = ''] = contributing.split(/^#+ Words to avoid$/m)
  const [table = ''] = section.split(/^#/m)
  return [...table.matchAll(/^\| (?!avoid|-)(.+?) \| (.+?) \|$/gm)].map(([, words = '', instead = '']) => {
    const phrases = words.replaceAll(/\(.*?\)|`/g, '').split(',')
    return { words, instead, pattern: new RegExp(`(?<![\\w-])(?:${phrases.map(patternOf).join('|')})(?![\\w-])`, 'gi') }
  })
}

/** A phrase, also with a word between two of its own: "is also given". */
function patternOf(phrase: string) {
  const words = phrase.trim().split(' ')
  const inflected = words.map((word) => `(?:${forms[word] ?? `${word.replace("'", "['’]")}${words.length === 1 ? '(?:s|ed|ing)?' : ''}`})`)
  return inflected.join(words.includes('X') ? '\\s+' : '\\s+(?:\\w+\\s+)?')
}

/** Returns a line for each place of a file that has words to avoid. A sentence may go through several lines of a comment. */
export function wordsToAvoid(file: string, source: string, avoided: readonly Avoided[]): string[] {
  const text = file.endsWith('.md') ? proseOf(source) : source.replaceAll(/^ *(\/\/|\/?\*+)/gm, (start) => ' '.repeat(start.length))
  return avoided.flatMap(({ pattern, instead }) =>
    [...text.matchAll(pattern)]
      .filter(({ 0: found, index }) => !allowed.test(text.slice(Math.max(0, index - 7), index + found.length + 1)))
      .map(({ 0: found, index }) => {
        const line = text.slice(0, index).split('\n').length
        return `${file}:${line} has "${found.replaceAll(/\s+/g, ' ')}". Write ${instead}.`
      })
  )
}

if (import.meta.main) {
  const avoided = avoidedWords(readFileSync(join(repository, 'CONTRIBUTING.md'), 'utf8'))
  const checked = filesUnder(repository, files).filter((file) => !notChecked.test(file))
  const found = checked.flatMap((file) => wordsToAvoid(file, readFileSync(join(repository, file), 'utf8'), avoided))
  reportProblems(avoided.length === 0 ? ['CONTRIBUTING.md has no table of words to avoid.'] : found)
}
