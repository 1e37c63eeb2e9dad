// Checks the rules for layers: a package imports only from lower layers, not from higher ones or its own, not even types.
import { readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { parseSync } from 'oxc-parser'
import { privateUseViolations } from './below-public-api.ts'
import { waitViolations } from './fixed-waits.ts'
import { importsOf } from './imports.ts'
import { fileViolations, forbiddenDependency, mayDependOn, type Violation } from './imports-between-layers.ts'
import { reportProblems } from './run.ts'
import { filesUnder, type Member, readManifest, readMembers, repository } from './workspace.ts'

const maxLinesOfLowLayers = 400
/** The packages whose folders still import each other in circles. */
const foldersNotInOrder = new Set(['examples/orders-service', 'packages/postgres'])

/**
 * Returns everything below a root folder that breaks a rule for layers, the tests that wait for a fixed time, and what is below the public
 * API of Fastify and Node.js.
 */
export function violationsOf(root: string): Violation[] {
  const members = readMembers(root)
  const byName = new Map(members.map((member) => [member.manifest.name, member]))
  const tools = readManifest(join(root, 'package.json')).devDependencies ?? {}
  const found = members.flatMap((member) => [
    ...manifestViolations(member, byName),
    ...filesUnder(join(root, member.folder), '{src,test,bench}/**/*.ts').flatMap((file) =>
      fileViolations(root, member, file, byName, tools)
    ),
    ...wholeViolations(root, member)
  ])
  return [...found, ...waitViolations(root), ...privateUseViolations(root)]
}

function manifestViolations({ folder, layer, manifest }: Member, byName: Map<string, Member>): Violation[] {
  const where = `${folder}/package.json`
  if (layer === undefined) return [{ where, rule: 'does not state its layer', fix: 'Set "layer" to a number from 0 to 5.' }]
  const { dependencies, devDependencies, peerDependencies, optionalDependencies } = manifest
  const all = Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies, ...optionalDependencies })
  const higher = all.flatMap((name) => {
    const target = byName.get(name)
    return target && !mayDependOn(layer, target.layer) ? [{ where, ...forbiddenDependency(layer, target, `depends on ${name}`) }] : []
  })
  const foreign = Object.keys(layer > 1 ? {} : { ...dependencies }).filter((name) => byName.get(name)?.layer !== 0)
  const fix =
    'Layer 0 has no dependencies, and layer 1 only those of layer 0. Write the code yourself, or move the package to a higher layer.'
  return [...higher, ...foreign.map((name) => ({ where, rule: `is on layer ${layer} and depends on ${name}`, fix }))]
}

function wholeViolations(root: string, { folder, layer = 0 }: Member): Violation[] {
  const files = filesUnder(join(root, folder), 'src/**/*.ts')
  const sources = new Map(files.map((file) => [file, readFileSync(join(root, folder, file), 'utf8')]))
  const cycles = foldersNotInOrder.has(folder) ? [] : folderCycles(sources)
  const long = layer > 1 ? [] : [...linesBySubject(sources)].filter(([, lines]) => lines > maxLinesOfLowLayers)
  return [
    ...cycles.map((cycle) => ({
      where: `${folder}/${cycle[0]}`,
      rule: `is part of an import cycle: ${cycle.join(' → ')}`,
      fix: 'Move the code that both need into a separate file.'
    })),
    ...long.map(([subject, lines]) => ({
      where: `${folder}/${subject}`,
      rule: `is on layer ${layer} and has ${lines} lines of code, more than ${maxLinesOfLowLayers}`,
      fix: 'Move out the code that does not belong to its single concept.'
    }))
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
  reportProblems(violationsOf(repository).map(({ where, rule, fix }) => `${where} ${rule}.\n  ${fix}`))
}
