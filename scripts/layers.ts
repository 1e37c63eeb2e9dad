// The list of layers between two markers of docs/architecture.md.
import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Member, readMembers } from './workspace.ts'

const page = 'docs/architecture.md'
const start = '<!-- layers:start -->'
const end = '<!-- layers:end -->'
const width = 76

/** Returns the layers, the highest first, and a table of the dependencies of each package. */
export function drawLayers(root: string): string {
  const members = readMembers(root)
  const layers = [5, 4, 3, 2, 1, 0].flatMap((layer) => {
    const names = members.filter((member) => member.layer === layer).map(nameOf)
    return wrap(names).map((line, index) => `${(index === 0 ? String(layer) : '').padEnd(7)}${line}`)
  })
  const ours = new Map(members.map((member) => [member.manifest.name, nameOf(member)]))
  const rows = members.map((member) => {
    const { dependencies, peerDependencies } = member.manifest
    const below = Object.keys({ ...dependencies, ...peerDependencies }).flatMap((name) => ours.get(name) ?? [])
    return `| [${nameOf(member)}](../${member.folder}) | ${member.layer} | ${below.toSorted().join(', ') || '–'} |`
  })
  return ['```text', ...layers, '```', '', '| package | layer | depends on |', '|---|---|---|', ...rows].join('\n')
}

/** Returns the page with the current list, by its path from the root. Throws when the page does not have both markers. */
export function layersPage(root: string): Map<string, string> {
  const text = existsSync(join(root, page)) ? readFileSync(join(root, page), 'utf8') : ''
  if (!text.includes(start) || text.indexOf(end) < text.indexOf(start))
    throw new Error(`${page} does not contain the list of layers. Add the lines ${start} and ${end} to it.`)
  return new Map([[page, `${text.slice(0, text.indexOf(start) + start.length)}\n${drawLayers(root)}\n${text.slice(text.indexOf(end))}`]])
}

function nameOf({ folder }: Member) {
  return basename(folder)
}

function wrap(names: readonly string[]) {
  const lines: string[] = []
  for (const name of names) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + name.length + 2 <= width) lines[lines.length - 1] = `${last}  ${name}`
    else lines.push(name)
  }
  return lines
}
