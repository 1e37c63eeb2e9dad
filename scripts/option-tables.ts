// The tables of options in the READMEs of packages, from the descriptions in the sources: `describeOptions` has the defaults and the ranges, and the
// JSDoc of each member its text. A table is between the lines <!-- options: name --> and <!-- options: end -->, with the name of the description.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import { type Node, parseSync, Visitor } from 'oxc-parser'
import { filesUnder, readMembers } from './workspace.ts'

interface Page {
  readonly default?: unknown
  readonly min?: number
  readonly max?: number
  readonly choices?: readonly unknown[]
}

/** A described option: what the module knows of it, and its text. */
export interface OptionRow {
  readonly name: string
  readonly text: string
  readonly isRequired: boolean
  readonly page: Page
}

const table = /(<!-- options: (\w+) -->\n)[\s\S]*?(<!-- options: end -->)/g

/** Returns the READMEs with their current tables, by path from the root. Throws for a table whose description does not exist. */
export async function optionTables(root: string): Promise<Map<string, string>> {
  const pages = new Map<string, string>()
  for (const { folder } of readMembers(root)) {
    const file = `${folder}/README.md`
    const readme = readFileSync(join(root, file), 'utf8')
    if (!readme.includes('<!-- options: ')) continue
    const described = await descriptionsOf(join(root, folder))
    const written = readme.replaceAll(table, (_whole, start: string, name: string, end: string) => {
      const rows = described.get(name)
      if (rows === undefined) throw new Error(`${file} has a table of ${name}, which no source exports. Correct the name.`)
      return `${start}${tableOf(rows)}${end}`
    })
    pages.set(file, written)
  }
  return pages
}

/** Returns the described options of a package, by the name of the description. An option that it takes from another one has its text there. */
async function descriptionsOf(folder: string) {
  const found = new Map<string, OptionRow[]>()
  const texts = new Map<object, string>()
  const modules: Record<string, { readonly members?: Record<string, Omit<OptionRow, 'name' | 'text'>> }>[] = []
  for (const file of filesUnder(join(folder, 'src'), '**/*.ts')) {
    const path = join(folder, 'src', file)
    const source = readFileSync(path, 'utf8')
    if (!source.includes('describeOptions(')) continue
    const module = await import(pathToFileURL(path).href)
    modules.push(module)
    const own = textsOf(file, source)
    for (const { members = {} } of Object.values(module as (typeof modules)[0]))
      for (const [name, member] of Object.entries(members)) if (own.has(name)) texts.set(member, own.get(name) as string)
  }
  for (const module of modules)
    for (const [name, { members }] of Object.entries(module)) {
      if (members === undefined) continue
      const rows = Object.entries(members).map(([option, member]) => ({ ...member, name: option, text: texts.get(member) ?? '' }))
      found.set(name, rows)
    }
  return found
}

/** Returns the JSDoc of the members of object literals, by name. */
function textsOf(file: string, source: string) {
  const { program, comments } = parseSync(file, source)
  const texts = new Map<string, string>()
  new Visitor({
    Property(property) {
      const name = keyOf(property.key)
      const comment = comments.findLast(({ end }) => end <= property.start && source.slice(end, property.start).trim() === '')
      if (name !== undefined && comment?.type === 'Block' && comment.value.startsWith('*')) texts.set(name, textOf(comment.value))
    }
  }).visit(program)
  return texts
}

function keyOf(key: Node) {
  return key.type === 'Identifier' ? key.name : undefined
}

function textOf(comment: string) {
  const lines = comment.split('\n').map((line) => line.replace(/^\s*\*+\s?/, '').trim())
  const tags = lines.findIndex((line) => line.startsWith('@'))
  const text = (tags < 0 ? lines : lines.slice(0, tags)).join(' ').trim()
  return text.replaceAll(/\{@link (\w+)\}/g, '`$1`')
}

function tableOf(rows: readonly OptionRow[]) {
  const lines = rows.map(({ name, text, isRequired, page }) => [
    `\`${name}\``,
    isRequired ? 'required' : shown(page.default),
    rangeOf(page),
    text.replaceAll('|', '\\|')
  ])
  return ['| option | default | values | meaning |', '|---|---|---|---|', ...lines.map((cells) => `| ${cells.join(' | ')} |`), ''].join(
    '\n'
  )
}

function rangeOf({ min, max, choices }: Page) {
  if (choices !== undefined) return choices.map((choice) => `\`${literal(choice)}\``).join(', ')
  if (min === undefined) return ''
  return max === undefined ? `from ${min}` : `${min} to ${max}`
}

function shown(value: unknown) {
  return value === undefined || typeof value === 'function' ? '–' : `\`${literal(value)}\``
}

function literal(value: unknown) {
  return inspect(value, { breakLength: Number.POSITIVE_INFINITY, compact: true })
}
