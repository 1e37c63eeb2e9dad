// Every error that a Markdown file quotes exists: a boot error such as `TypeError: links: options.publicUrl is "…"` is a part of a text
// in the sources, and a code in the first column of a table of codes is defined there. `…` takes the place of a value.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'
import { reportProblems } from './run.ts'
import { filesUnder, repository } from './workspace.ts'

/** A quotation, and the line on which it is. */
export interface Quotation {
  readonly line: number
  readonly text: string
}

const documents = '{*.md,{docs,packages,examples}/**/*.md}'
const sources = '{packages,examples}/*/src/**/*.ts'
// Written by scripts from the sources, or a record of what was.
const isNotChecked = /^docs\/(api|decisions|errors)|CHANGELOG\.md$/
const shortestPart = 8

/** Returns the boot errors that a text quotes. After a first one, `…` may replace the name of the class and of the package. */
export function quotedMessages(markdown: string): Quotation[] {
  return markdown
    .split('\n')
    .flatMap((text, index) =>
      [...text.matchAll(/`(?:TypeError|Error): [^`]+`(?:, `[^`]+`)*/g)]
        .flatMap(([quotations]) => [...quotations.matchAll(/`([^`]+)`/g)])
        .map(([, quoted = '']) => ({ line: index + 1, text: quoted.replace(/^(?:TypeError|Error): /, '') }))
    )
}

/** Returns the codes in the first column of the tables whose first column is `code`. */
export function quotedCodes(markdown: string): Quotation[] {
  let isInTable = false
  return markdown.split('\n').flatMap((text, index) => {
    isInTable = text.startsWith('|') && (isInTable || /^\| *code *\|/.test(text))
    const [, cell = ''] = isInTable ? text.split('|') : []
    return [...cell.matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`/g)].map(([, code = '']) => ({ line: index + 1, text: code }))
  })
}

/** Returns the texts and the names of properties of a source file, with `…` where a value is inserted. */
export function textsOf(file: string, source: string): string[] {
  const texts: string[] = []
  new Visitor({
    Literal: ({ value }) => void (typeof value === 'string' && texts.push(value)),
    TemplateLiteral: ({ quasis }) => void texts.push(quasis.map(({ value }) => value.cooked).join('…')),
    Property: ({ key }) => void (key.type === 'Identifier' && texts.push(key.name))
  }).visit(parseSync(file, source).program)
  return texts
}

/** Whether one of the texts has the parts of a quoted message, in their order. Where a caller adds the package, the text lacks it. */
export function isMessage(quotation: string, texts: readonly string[]): boolean {
  const parts = quotation
    .replace(/^[a-z-]+: /, '')
    .split('…')
    .map((part) => part.trim())
    .filter((part) => part !== '')
  if (!parts.some(({ length }) => length >= shortestPart)) return false
  const pattern = new RegExp(parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('[^]*'))
  return texts.some((text) => pattern.test(text))
}

/** Returns a line for each quoted error that the sources do not have. */
export function wrongQuotations(root: string): string[] {
  const texts = [...new Set(filesUnder(root, sources).flatMap((file) => textsOf(file, readFileSync(join(root, file), 'utf8'))))]
  const names = new Set(texts)
  const checked = filesUnder(root, documents).filter((file) => !isNotChecked.test(file))
  return checked.flatMap((file) => {
    const markdown = readFileSync(join(root, file), 'utf8')
    return [
      ...quotedMessages(markdown).filter(({ text }) => !isMessage(text, texts)),
      ...quotedCodes(markdown).filter(({ text }) => !names.has(text))
    ].map(({ line, text }) => `${file}:${line} quotes "${text}", which is not in the sources`)
  })
}

if (import.meta.main) {
  reportProblems(wrongQuotations(repository))
}
