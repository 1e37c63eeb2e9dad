// Checks the rules for layers: a package imports only from lower layers, not from higher ones or its own, not even types.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseSync } from 'oxc-parser'
import { privateUseViolations } from './below-public-api.ts'
import { cyclesOf } from './cycles.ts'
import { waitViolations } from './fixed-waits.ts'
import { fileViolations, forbiddenDependency, isLow, mayDependOn, type Violation } from './imports-between-layers.ts'
import { reportProblems } from './run.ts'
import { filesUnder, type Member, readManifest, readMembers, repository } from './workspace.ts'

const maxLinesOfLowLayers = 400
/** The packages whose folders still import each other in circles. */
const foldersNotInOrder = new Set(['examples/orders-service', 'packages/postgres'])

/**
 * Returns everything below a root folder that breaks a rule for layers, the import cycles of the tools, the tests that wait for a fixed
 * time, and what is below the public API of Fastify and Node.js.
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
  const ofTools = ['scripts', 'test-harness'].flatMap((folder) => cycleViolations(folder, sourcesOf(root, folder, '**/*.ts')))
  return [...found, ...ofTools, ...waitViolations(root), ...privateUseViolations(root)]
}

function manifestViolations({ folder, layer, manifest }: Member, byName: Map<string, Member>): Violation[] {
  const where = `${folder}/package.json`
  if (layer !== 'apart' && ![0, 1, 2, 3, 4, 5].includes(layer as number)) {
    return [{ where, rule: 'does not state its layer', fix: 'Set "layer" to a number from 0 to 5 or to "apart".' }]
  }
  const found: Violation[] = []
  for (const field of ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'] as const) {
    for (const name of Object.keys(manifest[field] ?? {})) {
      const target = byName.get(name)
      if (target && !mayDependOn(layer, target.layer))
        found.push({ where, ...forbiddenDependency(layer, target, `has ${name} in ${field}`) })
      if (isLow(layer) && field.startsWith('dep') && target?.layer !== 0) {
        found.push({
          where,
          rule: `is on layer ${layer} and depends on ${name}`,
          fix: 'Layer 0 has no dependencies, and layer 1 only those of layer 0. Write the code yourself, or move the package to a higher layer.'
        })
      }
    }
  }
  return found
}

function cycleViolations(folder: string, sources: ReadonlyMap<string, string>, partOf?: (file: string) => string): Violation[] {
  return cyclesOf(sources, partOf).map((cycle) => ({
    where: `${folder}/${cycle[0]}`,
    rule: `is part of an import cycle: ${cycle.join(' → ')}`,
    fix: 'Move the code that both need into a separate file.'
  }))
}

function sourcesOf(root: string, folder: string, pattern: string): Map<string, string> {
  const files = filesUnder(join(root, folder), pattern)
  return new Map(files.map((file) => [file, readFileSync(join(root, folder, file), 'utf8')]))
}

function wholeViolations(root: string, { folder, layer }: Member): Violation[] {
  const sources = sourcesOf(root, folder, 'src/**/*.ts')
  const found = [
    ...cycleViolations(folder, sources),
    ...(foldersNotInOrder.has(folder) ? [] : cycleViolations(folder, sources, folderInSource))
  ]
  if (!isLow(layer)) return found
  for (const [subject, lines] of linesBySubject(sources)) {
    if (lines <= maxLinesOfLowLayers) continue
    const rule = `is on layer ${layer} and has ${lines} lines of code, more than ${maxLinesOfLowLayers}`
    found.push({ where: `${folder}/${subject}`, rule, fix: 'Move out the code that does not belong to its single concept.' })
  }
  return found
}

/** Counts the lines of code of each folder in `src`, which is one subject, and of `src` itself. A contract for tests is as long as its subject has rules. */
function linesBySubject(sources: ReadonlyMap<string, string>) {
  const lines = new Map<string, number>()
  for (const [file, source] of sources) {
    const [, folder = ''] = /^src\/(?:([^/]+)\/)?/.exec(file) ?? []
    const subject = folder === '' ? 'src' : `src/${folder}`
    if (folder !== 'testing') lines.set(subject, (lines.get(subject) ?? 0) + linesOfCode(file, source))
  }
  return lines
}

/** Returns the folder of a file, or the file itself if it is in `src`. */
function folderInSource(file: string) {
  return dirname(file) === 'src' ? file : dirname(file)
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
