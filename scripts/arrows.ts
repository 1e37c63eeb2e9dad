// Checks which package may import which other package, and how: one result for each file and each import.
import { readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { type Import, importsOf, packageOf } from './imports.ts'
import type { Floor, Member } from './workspace.ts'

export interface Violation {
  /** The file and the line, from the root. */
  readonly where: string
  readonly rule: string
  /** How to fix it. */
  readonly mend: string
}

type Verdict = Omit<Violation, 'where'>

export const forbiddenNames: ReadonlySet<string> = new Set(
  'core common shared utils util types helpers helper constants interfaces misc lib'.split(' ')
)
/** The only package that may register two plugins. Other packages of its layer import only the types of contracts. */
export const preset: string = '@concordat/conventions'

/** Returns the names and imports of a file that break the rules. `tools` are the root's devDependencies, which every test may use. */
export function fileViolations(root: string, member: Member, file: string, byName: Map<string, Member>, tools: object): Violation[] {
  const { folder, floor, manifest } = member
  const path = `${folder}/${file}`
  const found: Violation[] = []
  const bad = file.split('/').find((part) => !part.endsWith('.test-d.ts') && forbiddenNames.has(part.split('.')[0] as string))
  if (bad) found.push({ where: path, rule: `has the undescriptive name "${bad}"`, mend: 'Name it after what it creates.' })
  const inSource = file.startsWith('src/')
  const declared = { ...manifest.dependencies, ...manifest.peerDependencies, ...manifest.optionalDependencies }
  const allowed: object = inSource ? declared : { ...declared, ...manifest.devDependencies, ...tools }
  for (const wish of importsOf(path, readFileSync(join(root, path), 'utf8'))) {
    const verdict = wish.specifier.startsWith('.') ? relative(file, wish, inSource) : outside(wish)
    if (verdict) found.push({ where: `${path}:${wish.line}`, ...verdict })
  }
  return found

  function outside({ specifier, typeOnly }: Import): Verdict | undefined {
    const name = packageOf(specifier)
    if (name === undefined) return undefined
    if (name === manifest.name) return inSource ? doorRule(specifier) : undefined
    const target = byName.get(name)
    if (target && !mayStandOn(floor, target.floor)) return arrow(floor, target, `imports ${typeOnly ? 'types of ' : ''}${specifier}`)
    if (!(name in allowed)) {
      return {
        rule: `imports ${specifier}, which its package.json does not declare`,
        mend: `Add ${name} to ${inSource ? 'dependencies or peerDependencies' : 'devDependencies'}, or node: before a built-in.`
      }
    }
    if (inSource && floor === 1 && !typeOnly && name === 'fastify') {
      return { rule: 'is on layer 1 and imports fastify at run time', mend: 'Use import type.' }
    }
    if (inSource && floor === 3 && !typeOnly && target?.floor === 2 && manifest.name !== preset) {
      return {
        rule: `imports ${specifier} at run time, and only ${preset} registers plugins`,
        mend: 'Import the contract with import type.'
      }
    }
    return undefined
  }
}

function relative(file: string, { specifier }: Import, inSource: boolean): Verdict | undefined {
  const target = posix.join(dirname(file), specifier)
  if (target.startsWith('..'))
    return { rule: `imports ${specifier}, which is outside its package`, mend: 'Import the other package by its name.' }
  return inSource && target === 'src/index.ts' ? doorRule(specifier) : undefined
}

function doorRule(specifier: string) {
  return { rule: `imports the entry point of its own package, ${specifier}`, mend: 'Import the file that contains the value.' }
}

/** Whether a layer may depend on another: only on lower layers. Separate packages must not; examples may depend on everything else. */
export function mayStandOn(floor: Floor | undefined, target: Floor | undefined): boolean {
  if (floor === 'apart') return false
  if (floor === 4) return target !== 4
  return typeof floor === 'number' && typeof target === 'number' && target < floor
}

export function arrow(floor: Floor | undefined, target: Member, what: string): Verdict {
  const direction =
    floor === 'apart'
      ? 'a dependency, but its package is separate:'
      : target.floor === floor
        ? 'a dependency on its own layer:'
        : 'a dependency on a higher layer:'
  const mend =
    floor === 'apart'
      ? 'A separate package must not import packages of this repository. Use HTTP instead.'
      : `Layer ${floor} may depend only on lower layers. Add a function option that the preset sets, or test both packages together in packages/conventions/test.`
  return { rule: `has ${direction} it ${what} (layer ${target.floor})`, mend }
}
