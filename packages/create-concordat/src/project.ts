import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Choices, chosenNames } from './choices.ts'
import { type Files, readTemplates } from './files.ts'
import { type Manifest, manifestOf, withChosenPackages } from './manifest.ts'

/** The folder of the examples that projects are copied from. The build copies them here. */
export const examples: string = fileURLToPath(new URL('../dist/examples/', import.meta.url))
const surroundings = fileURLToPath(new URL('../project/', import.meta.url))

/** The example with everything that can be chosen. */
export const starter = 'books-service'

/** A refusal. Its message is one line that says what is wrong and what to do. */
export class Refusal extends Error {}

/** Where a project is created. */
export interface Place {
  readonly name: string
  readonly folder: string
}

/** Returns the place of a new project. Throws a {@link Refusal} when it cannot be created there. */
export function placeOf(folder: string): Place {
  const name = basename(folder)
  if (!/^[a-z][a-z0-9]*([._-][a-z0-9]+)*$/.test(name) || name.length > 100 || name === 'node_modules')
    throw new Refusal(`"${name}" cannot be the name of a package. Use lower-case letters, digits and hyphens, for example my-service.`)
  if (existsSync(folder) && !statSync(folder).isDirectory()) throw new Refusal(`${folder} is a file. Choose another name.`)
  // A clone of an empty repository has this folder.
  if (existsSync(folder) && readdirSync(folder).some((one) => one !== '.git'))
    throw new Refusal(`The folder ${folder} is not empty. Choose another name, or empty the folder.`)
  return { name, folder }
}

/** Returns the files of a project with these choices. */
export function chosenFiles({ name }: Place, choices: Choices): Files {
  return projectFiles(name, starter, chosenNames(choices))
}

/** Returns the files of an example as a project, with everything that it has. */
export function exampleFiles({ name }: Place, example: string): Files {
  // With both databases: PGlite is used where no `DATABASE_URL` is set.
  return projectFiles(name, example, new Set(['pglite', 'postgres', 'typebox', 'tap', 'auth', 'jobs', 'webhooks', 'redis', 'metrics']))
}

function projectFiles(name: string, example: string, chosen: ReadonlySet<string>) {
  const source = readTemplates(join(examples, example), chosen)
  const manifest = JSON.parse(source.get('package.json') as string) as Manifest
  if (Object.hasOwn(manifest.dependencies, name) || Object.hasOwn(manifest.devDependencies, name))
    throw new Refusal(`The project needs the package "${name}", so it cannot have the same name. Choose another name.`)
  const own = manifestOf(name, manifest)
  const json = JSON.stringify(example === starter ? withChosenPackages(own, chosen) : own, null, 2)
  const files = new Map([...readTemplates(surroundings, chosen), ...source, ['package.json', `${json}\n`]])
  return new Map([...files].map(([path, text]) => [path, named(text, example, name)]))
}

function named(text: string, example: string, name: string) {
  return text
    .replaceAll(example, name)
    .replaceAll(titleOf(example), titleOf(name))
    .replaceAll('books-service', name)
    .replaceAll('Books service', titleOf(name))
}

function titleOf(name: string) {
  return name.replaceAll(/[._-]/g, ' ').replace(/^./, (letter) => letter.toUpperCase())
}

/** Writes the files of a project: all of them, or none. */
export function writeProject({ folder }: Place, files: Files): void {
  const isNew = !existsSync(folder)
  let unfinished: string | undefined
  try {
    if (isNew) mkdirSync(dirname(folder), { recursive: true })
    unfinished = mkdtempSync(join(isNew ? dirname(folder) : folder, '.create-concordat-'))
    // The folder of mkdtemp is for its owner alone, that of a project has the rights that the user gives to new folders.
    const project = join(unfinished, 'project')
    for (const [path, text] of files) {
      mkdirSync(dirname(join(project, path)), { recursive: true })
      writeFileSync(join(project, path), text)
    }
    if (isNew) renameSync(project, folder)
    else moveAll(project, folder)
    rmSync(unfinished, { recursive: true })
  } catch (error) {
    if (unfinished !== undefined) rmSync(unfinished, { recursive: true, force: true })
    throw new Refusal(`The project cannot be written: ${(error as Error).message}. Check the rights of the folder.`)
  }
}

// An empty folder is not replaced, because the shell of the user may be in it.
function moveAll(from: string, to: string) {
  for (const name of readdirSync(from)) renameSync(join(from, name), join(to, name))
}

/** Returns the names of the examples that a project can be copied from. */
export function exampleNames(): readonly string[] {
  return readdirSync(examples).filter((name) => name !== starter)
}
