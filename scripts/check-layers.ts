// Checks the rules for layers: a package imports only from lower layers, not from higher ones or its own, not even types. The compiler finds what is
// imported by a path that leads out of the package.
import { readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { parseSync } from 'oxc-parser'
import { importsOf, packageOf } from './imports.ts'
import { reportProblems } from './run.ts'
import { filesUnder, type Layer, type Member, readManifest, readMembers, repository } from './workspace.ts'

export const forbiddenNames: ReadonlySet<string> = new Set(
  'core common shared utils util types helpers helper constants interfaces misc lib'.split(' ')
)
const maxLinesOfLowLayers = 400
/** The packages whose folders still import each other in circles. */
const foldersNotInOrder = new Set(['examples/orders-service', 'packages/postgres'])

/** Returns everything below a root folder that breaks a rule for layers, each with how to fix it. */
export function violationsOf(root: string): string[] {
  const members = readMembers(root)
  const byName = new Map(members.map((member) => [member.manifest.name, member]))
  const tools = readManifest(join(root, 'package.json')).devDependencies ?? {}
  return members.flatMap((member) => [
    ...manifestViolations(member, byName),
    ...filesUnder(join(root, member.folder), '{src,test,bench}/**/*.ts').flatMap((file) => {
      const source = readFileSync(join(root, member.folder, file), 'utf8')
      return fileViolations(member, file, source, byName, tools).map((violation) => `${member.folder}/${file} ${violation}`)
    }),
    ...wholeViolations(root, member)
  ])
}

function manifestViolations({ folder, layer, manifest }: Member, byName: ReadonlyMap<string, Member>): string[] {
  if (layer === undefined) return [`${folder}/package.json does not state its layer.\n  Set "layer" to a number from 0 to 5.`]
  const { dependencies, devDependencies, peerDependencies, optionalDependencies } = manifest
  const all = Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies, ...optionalDependencies })
  const foreign = Object.keys(layer > 1 ? {} : { ...dependencies }).filter((name) => byName.get(name)?.layer !== 0)
  return [
    ...all.flatMap((name) => forbiddenDependency(layer, byName.get(name), `depends on ${name}`)),
    ...foreign.map(
      (name) =>
        `is on layer ${layer} and depends on ${name}.\n  Layer 0 has no dependencies, and layer 1 only those of layer 0. Write the code yourself, or move the package to a higher layer.`
    )
  ].map((violation) => `${folder}/package.json ${violation}`)
}

/** A package may depend only on lower layers. */
function forbiddenDependency(layer: Layer | undefined, target: Member | undefined, what: string): string[] {
  if (target === undefined || (layer !== undefined && target.layer !== undefined && target.layer < layer)) return []
  return [
    `is on layer ${layer} and ${what} of layer ${target.layer}.\n  A package depends only on lower layers. Add a function option that the preset sets, or test both packages together in packages/conventions/test.`
  ]
}

/** Returns how the name and the imports of a file break the rules. `tools` are the root's devDependencies, which every test may use. */
function fileViolations(
  { layer, manifest }: Member,
  file: string,
  source: string,
  byName: ReadonlyMap<string, Member>,
  tools: object
): string[] {
  const isSource = file.startsWith('src/')
  const declared = { ...manifest.dependencies, ...manifest.peerDependencies, ...manifest.optionalDependencies }
  const allowed: object = isSource ? declared : { ...declared, ...manifest.devDependencies, ...tools }
  const bad = file.split('/').find((part) => !part.endsWith('.test-d.ts') && forbiddenNames.has(part.split('.')[0] as string))
  const found = bad === undefined ? [] : [`has the undescriptive name "${bad}".\n  Name it after what it creates.`]
  for (const specifier of importsOf(file, source)) {
    const name = posix.join(dirname(file), specifier) === 'src/index.ts' ? manifest.name : packageOf(specifier)
    if (name === undefined || (name === manifest.name && !isSource)) continue
    const forbidden = forbiddenDependency(layer, byName.get(name), `imports ${specifier}`)
    if (name === manifest.name)
      found.push(`imports the entry point of its own package, ${specifier}.\n  Import the file that contains the value.`)
    else if (forbidden.length > 0) found.push(...forbidden)
    else if (!(name in allowed))
      found.push(
        `imports ${specifier}, which its package.json does not declare.\n  Add ${name} to ${isSource ? 'dependencies or peerDependencies' : 'devDependencies'}, or node: before a built-in.`
      )
  }
  return found
}

function wholeViolations(root: string, { folder, layer = 0 }: Member): string[] {
  const files = filesUnder(join(root, folder), 'src/**/*.ts')
  const sources = new Map(files.map((file) => [file, readFileSync(join(root, folder, file), 'utf8')]))
  const cycles = foldersNotInOrder.has(folder) ? [] : folderCycles(sources)
  const long = layer > 1 ? [] : [...linesBySubject(sources)].filter(([, lines]) => lines > maxLinesOfLowLayers)
  return [
    ...cycles.map(
      (cycle) =>
        `${folder}/${cycle[0]} is part of an import cycle: ${cycle.join(' → ')}.\n  Move the code that both need into a separate file.`
    ),
    ...long.map(
      ([subject, lines]) =>
        `${folder}/${subject} is on layer ${layer} and has ${lines} lines of code, more than ${maxLinesOfLowLayers}.\n  Move out the code that does not belong to its single concept.`
    )
  ]
}

/** Returns one path for each cycle among the folders of a package, types included. The linter finds cycles among files. */
function folderCycles(sources: ReadonlyMap<string, string>): string[][] {
  const imports = new Map<string, Set<string>>()
  for (const [file, source] of sources)
    for (const specifier of importsOf(file, source)) {
      const target = posix.join(dirname(file), specifier)
      const [from, to] = [file, target].map((path) => (dirname(path) === 'src' ? path : dirname(path))) as [string, string]
      if (sources.has(target) && from !== to) imports.set(from, (imports.get(from) ?? new Set()).add(to))
    }
  const cycles: string[][] = []
  const finished = new Set<string>()
  for (const part of imports.keys()) visit(part, [])
  return cycles

  function visit(part: string, path: readonly string[]) {
    const start = path.indexOf(part)
    if (start >= 0) cycles.push([...path.slice(start), part])
    if (start >= 0 || finished.has(part)) return
    for (const target of imports.get(part) ?? []) visit(target, [...path, part])
    finished.add(part)
  }
}

/** Counts the lines of code of each folder in `src`, which is one subject, and of `src` itself. A contract for tests is as long as its subject has rules. */
function linesBySubject(sources: ReadonlyMap<string, string>) {
  const lines = new Map<string, number>()
  for (const [file, source] of sources) {
    const subject = /^src(\/[^/]+(?=\/))?/.exec(file)?.[0] as string
    if (subject !== 'src/testing') lines.set(subject, (lines.get(subject) ?? 0) + linesOfCode(file, source))
  }
  return lines
}

/** Counts the lines that have more than comments. */
function linesOfCode(file: string, source: string) {
  const { comments } = parseSync(file, source)
  const code = comments.toReversed().reduce((text, { start, end }) => text.slice(0, start) + text.slice(end), source)
  return code.split('\n').filter((line) => line.trim() !== '').length
}

if (import.meta.main) {
  reportProblems(violationsOf(repository))
}
