import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Files, Refusal } from 'create-concordat'

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
  const { dependencies = {}, devDependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const chosen = [
    'zod' in dependencies ? 'zod' : 'typebox',
    'tap' in devDependencies ? 'tap' : 'node',
    ...('@concordat/token-issuing' in dependencies ? ['auth'] : [])
  ]
  return { folder, chosen: new Set(chosen) }
}

/** Reads a file of a project. Throws a {@link Refusal} when it does not exist. */
export function read({ folder }: Project, path: string): string {
  if (!existsSync(join(folder, path))) throw new Refusal(`${path} does not exist. Add it again, or add the code manually.`)
  return readFileSync(join(folder, path), 'utf8')
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

/** Writes new files and edited ones. Throws a {@link Refusal} before anything is written when a new one exists. */
export function write({ folder }: Project, added: Files, edited: Files): void {
  for (const path of added.keys())
    if (existsSync(join(folder, path))) throw new Refusal(`${path} already exists. Choose another name, or delete it.`)
  for (const [path, text] of [...added, ...edited]) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}
