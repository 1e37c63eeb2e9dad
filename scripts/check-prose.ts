// No text has words that the table of CONTRIBUTING.md says to avoid: Markdown outside of code, comments, and texts in the sources.
// scripts/prose-exceptions.json lists what is allowed nevertheless, with the reason.
import { readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import { TextlintKernel, type TextlintRuleModule } from '@textlint/kernel'
import markdown from '@textlint/textlint-plugin-markdown'
import { parseSync, Visitor } from 'oxc-parser'
import { reportProblems } from './run.ts'
import { filesUnder, repository } from './workspace.ts'

/** A row of the table. */
export interface Avoided {
  readonly words: string
  readonly instead: string
  /** Finds each of the words in every inflection. */
  readonly pattern: RegExp
}

/** What is allowed although it has words to avoid. */
export interface Exception {
  /** A regular expression that matches the words and what is around them. */
  readonly pattern: string
  readonly reason: string
  /** A glob of the files where it is allowed; everywhere without it. */
  readonly files?: string
}

/** A text of a file, and the line on which it begins. */
interface TextBlock {
  readonly line: number
  readonly text: string
}

const files = '{*.md,{.changeset,docs,examples,packages,scripts,test-harness}/**/*.{md,ts,mjs}}'
// Written by scripts from the sources, which are checked, or a record of what was.
const generated = /^docs\/(api\/|errors)|CHANGELOG\.md$|\/test\/client\//
const verbs = [
  ['is', 'are', 'was', 'were', 'be', 'been', 'being'],
  ['give', 'gives', 'gave', 'given', 'giving'],
  ['make', 'makes', 'made', 'making'],
  ['speak', 'speaks', 'spoke', 'spoken', 'speaking']
]
const possessives = ['its', 'their', 'his', 'her', 'your', 'our', 'my', 'the']
const kernel = new TextlintKernel()

/** The rows of the table "Words to avoid" of a text. */
export function avoidedWords(contributing: string): Avoided[] {
  const [, section = ''] = contributing.split(/^#+ Words to avoid$/m)
  const [table = ''] = section.split(/^#/m)
  return [...table.matchAll(/^\| (?!avoid|-)(.+?) \| (.+?) \|$/gm)].map(([, words = '', instead = '']) => ({
    words,
    instead,
    pattern: patternOf(words)
  }))
}

/** A line for each place of a file that has a word to avoid. */
export async function wordsToAvoid(
  file: string,
  source: string,
  avoided: readonly Avoided[],
  exceptions: readonly Exception[]
): Promise<string[]> {
  const allowed = exceptions
    .filter((exception) => exception.files === undefined || matchesGlob(file, exception.files))
    .map(({ pattern }) => new RegExp(pattern, 'gi'))
  const blocks = file.endsWith('.md') ? [{ line: 1, text: source }] : blocksOf(file, source)
  const found = blocks.map(async ({ line, text }) => {
    // Most have none, and need not be parsed.
    if (avoided.every(({ pattern }) => text.search(pattern) < 0)) return []
    const options = {
      ext: '.md',
      plugins: [{ pluginId: 'markdown', plugin: markdown.default }],
      rules: [{ ruleId: 'words', rule: ruleFor(avoided, allowed) }]
    }
    const { messages } = await kernel.lintText(text, options)
    return messages.map(({ loc, message }) => `${file}:${line + loc.start.line - 1} ${message}`)
  })
  return (await Promise.all(found)).flat()
}

/** Comments, and texts of several words. */
function blocksOf(file: string, source: string): TextBlock[] {
  const { program, comments } = parseSync(file, source)
  const lineOf = (offset: number) => source.slice(0, offset).split('\n').length
  const blocks: { line: number; text: string; end: number }[] = []
  for (const { value, start, end } of comments) {
    const text = value.replaceAll(/^ *\*+ ?/gm, '')
    const last = blocks.at(-1)
    // A sentence may go through several comments of a line each.
    if (last !== undefined && /^\n *$/.test(source.slice(last.end, start))) Object.assign(last, { text: `${last.text}\n${text}`, end })
    else blocks.push({ line: lineOf(start), text, end })
  }
  const add = ({ start }: { start: number }, text: unknown) => {
    // A text of one word is a name.
    if (typeof text === 'string' && /\S\s+\S/.test(text))
      blocks.push({ line: lineOf(start), text: text.replaceAll(/\s+/g, ' ').trim(), end: start })
  }
  new Visitor({
    Literal: (node) => add(node, node.value),
    TemplateElement: (node) => add(node, node.value.cooked)
  }).visit(program)
  return blocks.toSorted((one, other) => one.line - other.line)
}

function ruleFor(avoided: readonly Avoided[], allowed: readonly RegExp[]): TextlintRuleModule {
  return ({ Syntax, RuleError, report, getSource, locator }) => ({
    [Syntax.Str](node) {
      const text = getSource(node)
      const exempt = allowed.flatMap((pattern) => rangesOf(text, pattern))
      for (const { pattern, instead } of avoided) {
        for (const [start, end] of rangesOf(text, pattern)) {
          if (exempt.some(([from, to]) => from <= start && end <= to)) continue
          const message = `has "${text.slice(start, end).replaceAll(/\s+/g, ' ')}". Write ${instead}.`
          report(node, new RuleError(message, { padding: locator.at(start) }))
        }
      }
    }
  })
}

function rangesOf(text: string, pattern: RegExp) {
  return [...text.matchAll(pattern)].map(({ 0: match, index }) => [index, index + match.length] as const)
}

/** Matches the words of a cell, which commas separate; what is in brackets explains them. */
function patternOf(cell: string): RegExp {
  const phrases = cell.replaceAll(/\(.*?\)|`/g, '').split(',')
  return new RegExp(`(?<![\\w-])(?:${phrases.map((phrase) => phrasePattern(phrase.trim().split(' '))).join('|')})(?![\\w-])`, 'gi')
}

/** A phrase, also with a word between two of its own: "is also given". */
function phrasePattern(words: readonly string[]) {
  const space = words.includes('X') ? '\\s+' : '\\s+(?:\\w+\\s+)?'
  return words.map((word) => wordPattern(word, words.length === 1)).join(space)
}

function wordPattern(word: string, isAlone: boolean) {
  const forms = [...verbs, possessives].find((list) => list.includes(word))
  if (forms !== undefined) return `(?:${forms.join('|')})`
  if (word === 'X') return '\\w+'
  if (word === 'time') return 'times?'
  return `${word.replace("'", "['’]")}${isAlone ? '(?:s|ed|ing)?' : ''}`
}

if (import.meta.main) {
  const avoided = avoidedWords(readFileSync(join(repository, 'CONTRIBUTING.md'), 'utf8'))
  const exceptions: Exception[] = JSON.parse(readFileSync(join(repository, 'scripts/prose-exceptions.json'), 'utf8'))
  const checked = filesUnder(repository, files).filter((file) => !generated.test(file))
  const found = await Promise.all(
    checked.map((file) => wordsToAvoid(file, readFileSync(join(repository, file), 'utf8'), avoided, exceptions))
  )
  reportProblems(avoided.length === 0 ? ['CONTRIBUTING.md has no table of words to avoid.'] : found.flat())
}
