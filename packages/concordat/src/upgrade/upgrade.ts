import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Refusal } from 'create-concordat'
import { type Manifest, parsedManifest, write } from '../add/project.ts'
import { type Release, releases, versions } from '../releases.ts'
import { withRenames } from './source.ts'

const sources = '**/*.{ts,mts,cts,tsx,js,mjs,cjs,jsx}'
const kinds = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'] as const

/**
 * Sets the versions of the packages of Concordat to those of this release, in package.json, and renames in the sources what releases since the present
 * versions renamed. Returns what was changed, or would be, and what remains to be done. Throws a `Refusal` without a readable package.json.
 */
export function upgrade(folder: string, isDry: boolean): string {
  const text = textOf(join(folder, 'package.json'))
  const manifest = parsedManifest(text)
  const applied = releases().filter((release) => isNew(release, manifest))
  const left: string[] = []
  const edited = new Map<string, string>()
  const upgraded = withVersions(manifest, applied, left)
  const json = `${JSON.stringify(upgraded, null, /^[ \t]+/m.exec(text)?.[0] ?? 2)}\n`
  if (JSON.stringify(upgraded) !== JSON.stringify(manifest)) edited.set('package.json', json)
  for (const path of pathsIn(folder)) {
    const before = readFileSync(join(folder, path), 'utf8')
    const renamed = applied.reduce((source, release) => withRenames(path, source, release, left), before)
    if (renamed !== before) edited.set(path, renamed)
  }
  if (!isDry) write({ folder, chosen: new Set() }, new Map(), edited)
  if (edited.has('package.json')) left.push('Run npm install, then the checks and tests of the project.')
  left.push(...applied.flatMap(({ manual = [] }) => manual))
  const done =
    edited.size === 0
      ? 'Nothing to change: the packages have the versions of this release.'
      : `${isDry ? 'Would change' : 'Changed'}: ${[...edited.keys()].join(', ')}.`
  return left.length === 0 ? done : `${done} Left to do:\n${[...new Set(left)].map((line) => `- ${line}`).join('\n')}`
}

function textOf(path: string) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    throw new Refusal('There is no package.json here. Run the command in the folder of a project.')
  }
}

function isIgnored(name: string) {
  return name === 'node_modules' || name === 'dist' || name.startsWith('.')
}

function pathsIn(folder: string) {
  return globSync(sources, { cwd: folder, exclude: isIgnored })
    .map((path) => path.replaceAll('\\', '/'))
    .toSorted()
}

/** Returns whether a release is later than the version in the manifest, and at most that of this command. */
function isNew({ package: name, version }: Release, manifest: Manifest) {
  const range = kinds.map((kind) => manifest[kind]?.[name]).find((one) => one !== undefined)
  const present = numbersOf(range)
  return present !== undefined && isLess(present, numbersOf(version)) && !isLess(numbersOf(versions()[name]), numbersOf(version))
}

function numbersOf(range = ''): readonly number[] | undefined {
  const [, ...numbers] = /^[\^~]?(\d+)\.(\d+)\.(\d+)/.exec(range) ?? []
  return numbers.length === 0 ? undefined : numbers.map(Number)
}

function isLess(a: readonly number[] = [], b: readonly number[] = []) {
  const index = a.findIndex((number, position) => number !== b[position])
  return index >= 0 && (a[index] as number) < (b[index] as number)
}

function withVersions(manifest: Manifest, applied: readonly Release[], left: string[]): Manifest {
  const names = Object.assign({}, ...applied.map(({ modules }) => modules)) as Readonly<Record<string, string>>
  const changed = kinds.flatMap((kind) => {
    const entries = Object.entries(manifest[kind] ?? {}).map(([name, range]) => {
      const target = names[name] ?? name
      const version = versions()[target]
      if (version === undefined) return [name, range] as const
      if (numbersOf(range) !== undefined) return [target, version] as const
      left.push(`The version of ${name} in package.json is ${range}. Set it to ${version} if you want this release.`)
      return [target, range] as const
    })
    return manifest[kind] === undefined ? [] : [[kind, Object.fromEntries(entries)] as const]
  })
  return { ...manifest, ...Object.fromEntries(changed) }
}
