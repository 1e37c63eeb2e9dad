// Which package may import which, and under what name: the verdict on each file and each arrow.
import { readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { type Import, importsOf, packageOf } from './imports.ts'
import type { Floor, Member } from './workspace.ts'

export interface Violation {
  /** File and line from the root. */
  readonly where: string
  readonly rule: string
  /** How to mend it. */
  readonly mend: string
}

type Verdict = Omit<Violation, 'where'>

export const forbiddenNames: ReadonlySet<string> = new Set(
  'core common shared utils util types helpers helper constants interfaces misc lib'.split(' ')
)
/** The only package that may run two plugins; the other packages of its floor know contracts, as types. */
export const preset: string = '@concordat/conventions'

/** What a file of a package names or imports against the rules. `tools` are the root's devDependencies, free for every test. */
export function fileViolations(root: string, member: Member, file: string, byName: Map<string, Member>, tools: object): Violation[] {
  const { folder, floor, manifest } = member
  const path = `${folder}/${file}`
  const found: Violation[] = []
  const bad = file.split('/').find((part) => !part.endsWith('.test-d.ts') && forbiddenNames.has(part.split('.')[0] as string))
  if (bad) found.push({ where: path, rule: `has the name "${bad}", which says nothing`, mend: 'Name it by what it makes or owns.' })
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
        mend: `Add ${name} to ${inSource ? 'dependencies or peerDependencies' : 'devDependencies'}, or write node: before a built-in.`
      }
    }
    if (inSource && floor === 1 && !typeOnly && name === 'fastify') {
      return { rule: 'is on floor 1 and imports fastify at run time', mend: 'Use import type.' }
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
  return { rule: `imports its own door, ${specifier}`, mend: 'Import the file that has what you need.' }
}

/** Lower floors only. Beside the house, nothing of ours; examples may use everything. */
export function mayStandOn(floor: Floor | undefined, target: Floor | undefined): boolean {
  if (floor === 'apart') return false
  if (floor === 4) return target !== 4
  return typeof floor === 'number' && typeof target === 'number' && target < floor
}

export function arrow(floor: Floor | undefined, target: Member, what: string): Verdict {
  const direction = floor === 'apart' ? 'apart and' : target.floor === floor ? 'a side-arrow:' : 'an up-arrow:'
  const mend =
    floor === 'apart'
      ? 'A package apart imports nothing of ours; speak HTTP.'
      : `Floor ${floor} stands on lower floors only: take a function option that the preset fills, or test the two together in packages/conventions/test.`
  return { rule: `is ${direction} it ${what} (floor ${target.floor})`, mend }
}
