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

type Described = Record<string, { readonly members?: Record<string, Omit<OptionRow, 'name'>> }>

const table = /(<!-- options: (\w+) -->\n)[\s\S]*?(<!-- options: end -->)/g

/** Returns whether a README has tables of options. */
export function hasOptionTables(readme: string): boolean {
  return readme.includes('<!-- options: ')
}

/** Returns the READMEs with their current tables, by path from the root. Throws for a table whose description does not exist. */
export async function optionTables(root: string): Promise<Map<string, string>> {
  const pages = new Map<string, string>()
  for (const { folder } of readMembers(root)) {
    const file = `${folder}/README.md`
    const readme = readFileSync(join(root, file), 'utf8')
    if (!hasOptionTables(readme)) continue
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

/** Returns a page with a table of limits, in which the defaults of options are those of their descriptions. Throws for an option that does not exist. */
export async function withLimits(root: string, page: string): Promise<string> {
  const start = page.indexOf('| limit | default |')
  const end = page.indexOf('\n\n', start)
  const rows = page
    .slice(start, end)
    .split('\n')
    .map(async (row) => {
      const [limit = '', value = '', response = '', plugin = '', option = ''] = row.split(' | ')
      const name = /^`(\w+)`/.exec(option)?.[1]
      if (name === undefined) return row
      const described = await descriptionsOf(join(root, 'packages', plugin))
      const found = [...described.values()].flat().find((one) => one.name === name)
      if (found === undefined)
        throw new Error(`The table of limits: ${plugin} has no option ${name}. Correct the row of "${limit.slice(2)}".`)
      const { default: own } = found.page
      return typeof own === 'number'
        ? [limit, value.replace(/^[\d,.]+( [KMG]iB| s)?/, quantity(name, own)), response, plugin, option].join(' | ')
        : row
    })
  return page.slice(0, start) + (await Promise.all(rows)).join('\n') + page.slice(end)
}

function quantity(name: string, count: number) {
  if (name.endsWith('Seconds')) return `${count} s`
  if (!name.endsWith('Bytes')) return count.toLocaleString('en')
  if (count % 2 ** 30 === 0) return `${count / 2 ** 30} GiB`
  return count % 2 ** 20 === 0 ? `${count / 2 ** 20} MiB` : `${count / 2 ** 10} KiB`
}

/** Returns the described options of a package, by the name of the description. */
async function descriptionsOf(folder: string) {
  const files = filesUnder(join(folder, 'src'), '**/*.ts').map((file) => join(folder, 'src', file))
  const modules = await Promise.all(
    files.map(async (file) => {
      const options = describedIn(file, readFileSync(file, 'utf8'))
      return { file, options, described: options.length === 0 ? {} : ((await import(pathToFileURL(file).href)) as Described) }
    })
  )
  // By the member, because a description may contain members of another one, or by its place if its description is not exported.
  const texts = new Map<object | string, string>()
  for (const { file, described, options } of modules)
    for (const { description, name, comment } of options)
      texts.set(described[description]?.members?.[name] ?? `${file} ${name}`, textOf(comment))
  const found = new Map<string, OptionRow[]>()
  for (const { file, described } of modules)
    for (const [description, { members }] of Object.entries(described)) {
      if (members === undefined) continue
      const textOfMember = (name: string, member: object) => texts.get(member) ?? texts.get(`${file} ${name}`) ?? ''
      const rows = Object.entries(members).map(([name, member]) => ({ ...member, name, text: textOfMember(name, member) }))
      found.set(description, rows)
    }
  return found
}

/** An option as a source describes it. */
export interface SourceOption {
  /** The name of the description. */
  readonly description: string
  readonly name: string
  readonly line: number
  /** The comment before it. */
  readonly comment: string
}

/** Returns the options that a source describes. */
export function describedIn(file: string, source: string): SourceOption[] {
  if (!source.includes('describeOptions(')) return []
  const { program, comments } = parseSync(file, source)
  const found: SourceOption[] = []
  const descriptions = new Map<Node, string>()
  new Visitor({
    VariableDeclarator({ id, init }) {
      if (id.type === 'Identifier' && init) descriptions.set(init, id.name)
    },
    CallExpression(call) {
      const [, members] = call.arguments
      if (call.callee.type !== 'Identifier' || call.callee.name !== 'describeOptions' || members?.type !== 'ObjectExpression') return
      for (const { start, ...property } of members.properties) {
        if (property.type !== 'Property' || property.key.type !== 'Identifier') continue
        const comment = comments.findLast(({ end }) => end <= start && source.slice(end, start).trim() === '')
        const line = source.slice(0, start).split('\n').length
        found.push({ description: descriptions.get(call) ?? '', name: property.key.name, line, comment: comment?.value ?? '' })
      }
    }
  }).visit(program)
  return found
}

function textOf(comment: string) {
  const lines = comment.split('\n').map((line) => line.replace(/^\s*\*+\s?/, '').trim())
  const tags = lines.findIndex((line) => line.startsWith('@'))
  const text = (tags < 0 ? lines : lines.slice(0, tags)).join(' ').trim()
  return text.replaceAll(/\{@link (\w+)\}/g, '`$1`')
}

function tableOf(rows: readonly OptionRow[]) {
  const lines: { names: string; readonly value: string; readonly text: string }[] = []
  for (const { name, text, isRequired, page } of rows) {
    const value = [isRequired ? 'required' : shown(page.default), rangeOf(page)].filter((part) => part !== '').join('; ')
    const last = lines.at(-1)
    // Options that differ only in their names have one row.
    if (last !== undefined && last.value === value && last.text === text) last.names += `, \`${name}\``
    else lines.push({ names: `\`${name}\``, value, text })
  }
  const cells = lines.map(({ names, value, text }) => `| ${names} | ${value} | ${text.replaceAll('|', '\\|')} |`)
  return ['| option | default | meaning |', '|---|---|---|', ...cells, ''].join('\n')
}

function rangeOf({ min, max, choices }: Page) {
  if (choices !== undefined)
    return choices.every((choice) => typeof choice === 'boolean') ? '' : choices.map((choice) => `\`${literal(choice)}\``).join(', ')
  if (min === undefined) return ''
  return max === undefined ? `from ${min}` : `${min} to ${max}`
}

function shown(value: unknown) {
  return value === undefined || typeof value === 'function' ? '' : `\`${literal(value)}\``
}

function literal(value: unknown) {
  return inspect(value, { breakLength: Number.POSITIVE_INFINITY, compact: true })
}
