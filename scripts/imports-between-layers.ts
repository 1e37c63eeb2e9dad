// Checks which package may import which other package, and how: one result for each file and each import.
import { readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { type Import, importsOf, packageOf } from './imports.ts'
import type { Layer, Member } from './workspace.ts'

export interface Violation {
  /** The file and the line, from the root. */
  readonly where: string
  readonly rule: string
  /** How to fix it. */
  readonly fix: string
}

type Verdict = Omit<Violation, 'where'>

export const forbiddenNames: ReadonlySet<string> = new Set(
  'core common shared utils util types helpers helper constants interfaces misc lib'.split(' ')
)
/** The only package that may register two plugins. Others of its layer import no plugin, which is the default export of its package. */
export const preset: string = '@concordat/conventions'

/** Returns the names and imports of a file that break the rules. `tools` are the root's devDependencies, which every test may use. */
export function fileViolations(root: string, member: Member, file: string, byName: Map<string, Member>, tools: object): Violation[] {
  const { folder, layer, manifest } = member
  const path = `${folder}/${file}`
  const found: Violation[] = []
  const bad = file.split('/').find((part) => !part.endsWith('.test-d.ts') && forbiddenNames.has(part.split('.')[0] as string))
  if (bad) found.push({ where: path, rule: `has the undescriptive name "${bad}"`, fix: 'Name it after what it creates.' })
  const inSource = file.startsWith('src/')
  const declared = { ...manifest.dependencies, ...manifest.peerDependencies, ...manifest.optionalDependencies }
  const allowed: object = inSource ? declared : { ...declared, ...manifest.devDependencies, ...tools }
  for (const input of importsOf(path, readFileSync(join(root, path), 'utf8'))) {
    const verdict = input.specifier.startsWith('.') ? relative(file, input, inSource) : outside(input)
    if (verdict) found.push({ where: `${path}:${input.line}`, ...verdict })
  }
  return found

  function outside({ specifier, typeOnly, isNamed }: Import): Verdict | undefined {
    const name = packageOf(specifier)
    if (name === undefined) return undefined
    if (name === manifest.name) return inSource ? ownEntryPoint(specifier) : undefined
    const target = byName.get(name)
    if (target && !mayDependOn(layer, target.layer))
      return forbiddenDependency(layer, target, `imports ${typeOnly ? 'types of ' : ''}${specifier}`)
    if (!(name in allowed)) {
      return {
        rule: `imports ${specifier}, which its package.json does not declare`,
        fix: `Add ${name} to ${inSource ? 'dependencies or peerDependencies' : 'devDependencies'}, or node: before a built-in.`
      }
    }
    if (inSource && isLow(layer) && !typeOnly && name === 'fastify') {
      return { rule: `is on layer ${layer} and imports fastify at run time`, fix: 'Use import type.' }
    }
    // The default export is the plugin; other exports run without it, such as the comparison of two descriptions.
    if (inSource && layer === 3 && !typeOnly && !isNamed && target?.layer === 2 && specifier === name && manifest.name !== preset) {
      return {
        rule: `imports ${specifier} at run time, and only ${preset} registers plugins`,
        fix: 'Import what it needs by name.'
      }
    }
    return undefined
  }
}

function relative(file: string, { specifier }: Import, inSource: boolean): Verdict | undefined {
  const target = posix.join(dirname(file), specifier)
  if (target.startsWith('..'))
    return { rule: `imports ${specifier}, which is outside its package`, fix: 'Import the other package by its name.' }
  return inSource && target === 'src/index.ts' ? ownEntryPoint(specifier) : undefined
}

function ownEntryPoint(specifier: string) {
  return { rule: `imports the entry point of its own package, ${specifier}`, fix: 'Import the file that contains the value.' }
}

/** Whether a layer may depend on another: only on lower layers. Separate packages must not; examples may depend on everything else. */
export function mayDependOn(layer: Layer | undefined, target: Layer | undefined): boolean {
  if (layer === 'apart') return false
  if (layer === 5) return target !== 5
  return typeof layer === 'number' && typeof target === 'number' && target < layer
}

/** Whether a layer is one of those whose packages cover a single concept, without Fastify at run time. */
export function isLow(layer: Layer | undefined): layer is 0 | 1 {
  return layer === 0 || layer === 1
}

export function forbiddenDependency(layer: Layer | undefined, target: Member, what: string): Verdict {
  const direction =
    layer === 'apart'
      ? 'a dependency, but its package is separate:'
      : target.layer === layer
        ? 'a dependency on its own layer:'
        : 'a dependency on a higher layer:'
  const fix =
    layer === 'apart'
      ? 'A separate package must not import packages of this repository. Use HTTP instead.'
      : `Layer ${layer} may depend only on lower layers. Add a function option that the preset sets, or test both packages together in packages/conventions/test.`
  return { rule: `has ${direction} it ${what} (layer ${target.layer})`, fix }
}
