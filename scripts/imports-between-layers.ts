// Checks which package may import which other package. The linter checks how, with no-restricted-imports.
import { readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { importsOf, packageOf } from './imports.ts'
import type { Layer, Member } from './workspace.ts'

export interface Violation {
  /** The file and the line, from the root. */
  readonly where: string
  readonly rule: string
  /** How to fix it. */
  readonly fix: string
}

export const forbiddenNames: ReadonlySet<string> = new Set(
  'core common shared utils util types helpers helper constants interfaces misc lib'.split(' ')
)
/** The only package that may register two plugins. */
export const preset: string = '@concordat/conventions'

/** Returns the names and imports of a file that break the rules. `tools` are the root's devDependencies, which every test may use. */
export function fileViolations(root: string, member: Member, file: string, byName: Map<string, Member>, tools: object): Violation[] {
  const { folder, layer, manifest } = member
  const where = `${folder}/${file}`
  const inSource = file.startsWith('src/')
  const declared = { ...manifest.dependencies, ...manifest.peerDependencies, ...manifest.optionalDependencies }
  const allowed: object = inSource ? declared : { ...declared, ...manifest.devDependencies, ...tools }
  const bad = file.split('/').find((part) => !part.endsWith('.test-d.ts') && forbiddenNames.has(part.split('.')[0] as string))
  const found: Violation[] = bad ? [{ where, rule: `has the undescriptive name "${bad}"`, fix: 'Name it after what it creates.' }] : []
  for (const specifier of importsOf(where, readFileSync(join(root, where), 'utf8'))) {
    const violation = specifier.startsWith('.') ? relative(specifier) : outside(specifier)
    if (violation) found.push({ where, ...violation })
  }
  return found

  function relative(specifier: string) {
    const target = posix.join(dirname(file), specifier)
    if (target.startsWith('..'))
      return { rule: `imports ${specifier}, which is outside its package`, fix: 'Import the other package by its name.' }
    return inSource && target === 'src/index.ts' ? ownEntryPoint(specifier) : undefined
  }

  function outside(specifier: string) {
    const name = packageOf(specifier)
    if (name === undefined) return undefined
    if (name === manifest.name) return inSource ? ownEntryPoint(specifier) : undefined
    const target = byName.get(name)
    if (target && !mayDependOn(layer, target.layer)) return forbiddenDependency(layer, target, `imports ${specifier}`)
    const fix = `Add ${name} to ${inSource ? 'dependencies or peerDependencies' : 'devDependencies'}, or node: before a built-in.`
    return name in allowed ? undefined : { rule: `imports ${specifier}, which its package.json does not declare`, fix }
  }
}

function ownEntryPoint(specifier: string) {
  return { rule: `imports the entry point of its own package, ${specifier}`, fix: 'Import the file that contains the value.' }
}

/** Whether a layer may depend on another: only on lower layers. */
export function mayDependOn(layer: Layer | undefined, target: Layer | undefined): boolean {
  return layer !== undefined && target !== undefined && target < layer
}

export function forbiddenDependency(layer: Layer | undefined, target: Member, what: string): Omit<Violation, 'where'> {
  return {
    rule: `is on layer ${layer} and ${what} of layer ${target.layer}`,
    fix: 'A package depends only on lower layers. Add a function option that the preset sets, or test both packages together in packages/conventions/test.'
  }
}
