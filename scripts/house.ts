// Draws the house, floor over floor, between two markers of docs/architecture.md.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Member, readMembers } from './workspace.ts'

const page = 'docs/architecture.md'
const start = '<!-- house:start -->'
const end = '<!-- house:end -->'
const width = 76

/** The drawing, floors from the roof down, and under it what each package stands on. */
export function drawHouse(root: string): string {
  const members = readMembers(root)
  const floors = ([4, 3, 2, 1, 'apart'] as const).flatMap((floor) => {
    const names = members.filter((member) => member.floor === floor).map(nameOf)
    return wrap(names).map((line, index) => `${(index === 0 ? String(floor) : '').padEnd(7)}${line}`)
  })
  const ours = new Map(members.map((member) => [member.manifest.name, nameOf(member)]))
  const rows = members.map((member) => {
    const { dependencies, peerDependencies } = member.manifest
    const below = Object.keys({ ...dependencies, ...peerDependencies }).flatMap((name) => ours.get(name) ?? [])
    return `| [${nameOf(member)}](../${member.folder}) | ${member.floor} | ${below.toSorted().join(', ') || '–'} |`
  })
  return ['```text', ...floors, '```', '', '| package | floor | stands on |', '|---|---|---|', ...rows].join('\n')
}

/** Why the drawing in the page is not right, or undefined when it is. */
export function houseIsOld(root: string): string | undefined {
  const text = pageOf(root)
  if (text === undefined)
    return `${page} has no drawing of the house.\n  Write the lines ${start} and ${end} into it, and run: pnpm floors --write`
  return text === replaced(root, text) ? undefined : `The house in ${page} is not drawn as it is.\n  Run: pnpm floors --write`
}

export function writeHouse(root: string): void {
  const text = pageOf(root)
  if (text !== undefined) writeFileSync(join(root, page), replaced(root, text))
}

/** The text of the page, when it is there and has both markers. */
function pageOf(root: string) {
  const file = join(root, page)
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  return text.includes(start) && text.indexOf(end) > text.indexOf(start) ? text : undefined
}

function replaced(root: string, text: string) {
  return `${text.slice(0, text.indexOf(start) + start.length)}\n${drawHouse(root)}\n${text.slice(text.indexOf(end))}`
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
