import { type Node, parseSync } from 'oxc-parser'
import type { Release } from '../releases.ts'
import { identifiersIn } from './identifiers.ts'
import { type Edit, edited, nodesIn } from './nodes.ts'
import { optionEdits } from './options.ts'

/**
 * Returns a source with the modules, exports and options that a release renamed. Only specifiers of imports, names that are imported from these modules,
 * and keys of the objects that are passed to them are changed. Adds to `left` what must be changed manually.
 */
export function withRenames(path: string, text: string, release: Release, left: string[]): string {
  const { modules = {}, exports = {}, options = {} } = release
  const known = [modules, exports, options].flatMap((table) => Object.keys(table))
  if (!known.some((name) => text.includes(name))) return text
  const { program, errors } = parseSync(path, text)
  if (errors.length > 0) {
    left.push(`${path} cannot be parsed. Change it manually.`)
    return text
  }
  const nodes = [...nodesIn(program)]
  const edits: Edit[] = []
  for (const { node } of nodes) {
    const source = sourceOf(node)
    const target = source && moduleOf(source.value, modules)
    if (source && target !== undefined) edits.push({ start: source.start + 1, end: source.end - 1, text: target })
    if (source && node.type === 'ImportDeclaration')
      for (const specifier of node.specifiers) {
        const renamed = exports[source.value] ?? {}
        if (specifier.type === 'ImportNamespaceSpecifier' && Object.keys(renamed).length > 0)
          left.push(`${path} imports all of ${source.value} as ${specifier.local.name}. Replace ${listOf(renamed)}.`)
        const imported = nameOf(specifier)
        const name = Object.hasOwn(renamed, imported) ? renamed[imported] : undefined
        if (name !== undefined && specifier.type === 'ImportSpecifier') edits.push(...identifiersIn(nodes, specifier, name))
        const ownOptions = options[source.value]?.[imported]
        if (ownOptions !== undefined) edits.push(...optionEdits(path, nodes, specifier.local.name, ownOptions, left))
      }
    if (source && node.type === 'ExportNamedDeclaration')
      for (const { local, exported } of node.specifiers) {
        const name = exports[source.value]?.[text.slice(local.start, local.end)]
        if (name === undefined) continue
        const isSame = local.start === exported.start
        edits.push({ start: local.start, end: local.end, text: isSame ? `${name} as ${text.slice(local.start, local.end)}` : name })
      }
  }
  return edited(text, edits)
}

/** Returns the text that names the module of an import or an export. */
function sourceOf(node: Node) {
  if (!('source' in node)) return undefined
  const { source } = node as { readonly source: Node | null }
  return source?.type === 'Literal' && typeof source.value === 'string' ? (source as Node & { readonly value: string }) : undefined
}

function moduleOf(name: string, modules: Readonly<Record<string, string>>) {
  if (Object.hasOwn(modules, name)) return modules[name]
  const whole = Object.keys(modules).find((old) => old.split('/').length === 2 && name.startsWith(`${old}/`))
  return whole === undefined ? undefined : modules[whole] + name.slice(whole.length)
}

function nameOf(specifier: { readonly type: string; readonly imported?: unknown }) {
  const { name = 'default' } = (specifier.imported ?? {}) as { readonly name?: string }
  return specifier.type === 'ImportDefaultSpecifier' ? 'default' : name
}

function listOf(renamed: Readonly<Record<string, string>>) {
  return Object.entries(renamed)
    .map(([old, name]) => `${old} by ${name}`)
    .join(', ')
}
