import type { ImportSpecifier, Node } from 'oxc-parser'
import type { Edit, Place } from './nodes.ts'

// The members of nodes that declare the names in them.
const declarations: Readonly<Record<string, readonly string[]>> = {
  VariableDeclarator: ['id'],
  FunctionDeclaration: ['id', 'params'],
  FunctionExpression: ['id', 'params'],
  ArrowFunctionExpression: ['params'],
  TSDeclareFunction: ['id'],
  ClassDeclaration: ['id'],
  ClassExpression: ['id'],
  CatchClause: ['param'],
  TSTypeAliasDeclaration: ['id'],
  TSInterfaceDeclaration: ['id'],
  TSEnumDeclaration: ['id'],
  TSTypeParameter: ['name']
}

/**
 * Returns the edits that give an import another name, also where the file uses it. Where another declaration has the old or the new name, the file keeps
 * the old one: `import { foundRow as found }`.
 */
export function identifiersIn(nodes: readonly Place[], { imported, local }: ImportSpecifier, name: string): Edit[] {
  const old = local.name
  const isAlias = local.start !== imported.start
  if (isAlias) return [{ start: imported.start, end: imported.end, text: name }]
  const uses = nodes.filter(({ node, parent, key }) => node.type === 'Identifier' && node.name === old && isUse(node, parent, key))
  const isTaken = nodes.some(({ node }) => node.type === 'Identifier' && node.name === name) || isDeclared(nodes, old)
  if (isTaken) return [{ start: imported.start, end: imported.end, text: `${name} as ${old}` }]
  const edits = uses.map(({ node: { start, end }, parent }) => ({ start, end, text: textFor(parent, old, name) }))
  return [...new Map([{ start: imported.start, end: imported.end, text: name }, ...edits].map((edit) => [edit.start, edit])).values()]
}

// The key of a member is not a use, except in its short form.
function isUse(node: Node, parent: Node | undefined, key: string) {
  if (parent?.type === 'ImportSpecifier') return false
  if (parent?.type === 'Property') return key === 'value' || parent.computed || parent.shorthand
  if (parent?.type === 'ExportSpecifier') return key === 'local'
  if (key === 'property' && parent?.type === 'MemberExpression') return parent.computed
  return !((key === 'key' || key === 'label') && !(parent as { readonly computed?: boolean }).computed) && node.type === 'Identifier'
}

function textFor(parent: Node | undefined, old: string, name: string) {
  if (parent?.type === 'Property' && parent.shorthand) return `${old}: ${name}`
  if (parent?.type === 'ExportSpecifier' && parent.local.start === parent.exported.start) return `${name} as ${old}`
  return name
}

function isDeclared(nodes: readonly Place[], name: string) {
  return nodes.some(({ node }) =>
    (declarations[node.type] ?? []).some((member) => namesIn((node as unknown as Record<string, unknown>)[member]).includes(name))
  )
}

// The names in a pattern, such as `{ a, b: [c = 1], ...d }`.
function namesIn(pattern: unknown): string[] {
  if (Array.isArray(pattern)) return pattern.flatMap(namesIn)
  const node = pattern as (Node & Record<string, unknown>) | null | undefined
  if (node?.type === 'Identifier') return [node.name]
  return ['properties', 'value', 'elements', 'left', 'argument', 'parameter'].flatMap((key) => (node?.[key] ? namesIn(node[key]) : []))
}
