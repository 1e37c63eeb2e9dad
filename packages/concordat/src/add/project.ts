import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync
} from 'node:fs'
import { dirname, join } from 'node:path'
import { type Files, Refusal } from 'create-concordat'
import { listed } from './source-text.ts'

/** A project that `npm create concordat` made. */
export interface Project {
  readonly folder: string
  /** What was chosen, as the marks of templates name it. */
  readonly chosen: ReadonlySet<string>
}

/** Reads the project in a folder. Throws a {@link Refusal} when there is none. */
export function projectIn(folder: string): Project {
  if (!existsSync(join(folder, 'package.json')) || !existsSync(join(folder, 'src/app.ts')))
    throw new Refusal('There is no project here. Run the command in a folder that npm create concordat made.')
  const { dependencies = {}, devDependencies = {} } = parsedManifest(readFileSync(join(folder, 'package.json'), 'utf8'))
  const chosen = [
    'zod' in dependencies ? 'zod' : 'typebox' in dependencies ? 'typebox-1' : 'typebox',
    'tap' in devDependencies ? 'tap' : 'node',
    ...('@concordat/token-issuing' in dependencies ? ['auth'] : [])
  ]
  return { folder, chosen: new Set(chosen) }
}

/** The dependencies in a package.json, by kind. */
export type Manifest = Readonly<
  Partial<Record<'dependencies' | 'devDependencies' | 'peerDependencies' | 'optionalDependencies', Readonly<Record<string, string>>>>
>

/** Returns the content of a package.json. Throws a {@link Refusal} for a text that is not JSON. */
export function parsedManifest(text: string): Manifest {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Refusal(`package.json cannot be read: ${(error as Error).message}. Correct it.`)
  }
}

/** Reads a file of a project. Throws a {@link Refusal} when it does not exist. */
export function read({ folder }: Project, path: string): string {
  if (!existsSync(join(folder, path))) throw new Refusal(`${path} does not exist. Add it again, or add the code manually.`)
  // Git writes CRLF on Windows, and reads LF as the same.
  return readFileSync(join(folder, path), 'utf8').replaceAll('\r\n', '\n')
}

/** Returns the names of the files of a project in a folder. */
export function namesIn({ folder }: Project, path: string): string[] {
  return globSync('*', { cwd: join(folder, path) }).toSorted()
}

/** Replaces the part of a text that a pattern matches. Throws a {@link Refusal} that names what is missing when it does not. */
export function edit(path: string, text: string, pattern: RegExp, missing: string, replace: (match: RegExpExecArray) => string): string {
  const match = pattern.exec(text)
  if (match === null) throw new Refusal(`${path} has no ${missing}. Write it as npm create concordat did, or add the code manually.`)
  return text.slice(0, match.index) + replace(match) + text.slice(match.index + match[0].length)
}

/** Adds an item to a list, whose beginning a pattern matches. Throws a {@link Refusal} that names what is missing without such a list. */
export function withItem(path: string, text: string, before: RegExp, missing: string, item: string): string {
  return edit(path, text, listAfter(before), missing, ([, head = '', items = '']) =>
    // The last line may be a comment.
    hasComment(items) ? `${head}[\n${/^ */.exec(head)?.[0]}  ${item},${items}]` : listed(head, ['[', ']'], [...itemsIn(items), item])
  )
}

/** Removes an item from a list, whose beginning a pattern matches, if it is there. */
export function withoutItem(text: string, before: RegExp, item: string): string {
  return text.replace(listAfter(before), (_, head: string, items: string) => {
    if (hasComment(items)) return `${head}[${items.replace(new RegExp(`\\s*(?<![\\w'])${item}(?:,|(?=\\s*$))`), '')}]`
    const rest = itemsIn(items).filter((one) => one !== item)
    return listed(head, ['[', ']'], rest)
  })
}

function listAfter(before: RegExp) {
  return new RegExp(`^(.*${before.source})\\[([^\\]]*)\\]`, 'm')
}

function hasComment(items: string) {
  return /\/[/*]/.test(items)
}

function itemsIn(text: string) {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

/**
 * Writes new files and edited ones, and deletes others: all of them, or none. Throws a {@link Refusal} when a new one exists already, when a link leads to one, and when one
 * cannot be written.
 */
export function write({ folder }: Project, added: Files, edited: Files, deleted: readonly string[] = []): void {
  for (const path of [...added.keys(), ...edited.keys(), ...deleted]) requireNoLink(folder, path)
  for (const path of added.keys())
    if (existsSync(join(folder, path))) throw new Refusal(`${path} already exists. Choose another name, or delete it.`)
  const unfinished: string[] = []
  // Beside each file, where it can be renamed. Their names are new, and `wx` follows no link.
  const suffix = `.${randomUUID()}`
  try {
    for (const [path, text] of [...added, ...edited]) {
      const file = join(folder, path)
      const made = mkdirSync(dirname(file), { recursive: true })
      unfinished.push(...(made === undefined ? [] : [made]), `${file}${suffix}`)
      writeFileSync(`${file}${suffix}`, text, { flag: 'wx' })
      if (edited.has(path)) chmodSync(`${file}${suffix}`, statSync(file).mode)
    }
  } catch (error) {
    for (const path of unfinished) rmSync(path, { recursive: true, force: true })
    throw new Refusal(`Nothing was changed: ${(error as Error).message}. Check the rights of the project.`)
  }
  for (const path of [...added.keys(), ...edited.keys()]) renameSync(join(folder, `${path}${suffix}`), join(folder, path))
  for (const path of deleted) rmSync(join(folder, path))
  for (const path of new Set(deleted.map(dirname))) if (readdirSync(join(folder, path)).length === 0) rmdirSync(join(folder, path))
}

// A project may be the work of others, and a link in it may lead to any file of the user.
function requireNoLink(folder: string, path: string) {
  const parts = path.split('/')
  const places = parts.map((_, index) => parts.slice(0, index + 1).join('/'))
  const link = places.find((place) => isLink(join(folder, place)))
  if (link !== undefined)
    throw new Refusal(`${link} is a symbolic link, so the command would write elsewhere. Replace it with what it leads to.`)
}

function isLink(file: string) {
  try {
    return lstatSync(file).isSymbolicLink()
  } catch {
    // It does not exist, or a file is in the place of its folder, which fails when it is written.
    return false
  }
}
