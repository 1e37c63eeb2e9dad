// Reads the public API of the packages from the committed reports in docs/api.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ModuleExportName, type Node, parseSync, Visitor } from 'oxc-parser'
import { blocksOf } from './markdown.ts'
import { filesUnder } from './workspace.ts'

/** A top-level declaration of a report, or an interface of another package with the members that this package adds to it. */
export interface Declared {
  /** The package, without `@concordat/`. */
  readonly package: string
  /** The part of the report: an entry point such as `@concordat/webhooks/receiver`, or `undefined` for what no entry point exports. */
  readonly entry: string | undefined
  /** Whether it adds members to an interface of another package. */
  readonly isAugmentation: boolean
  readonly kind: 'interface' | 'type' | 'function' | 'variable' | 'class' | 're-export'
  readonly name: string
  /** The type of a variable, or what a function returns, as it is written. */
  readonly type: TypeText | undefined
  readonly members: readonly ApiMember[]
}

/** A member of a declaration, including those of types inside it. */
export interface ApiMember {
  readonly name: string
  readonly isOptional: boolean
  readonly isMethod: boolean
  /** Whether it is a member of a type inside the declaration. */
  readonly isNested: boolean
  /** `undefined` when the declaration states none. */
  readonly type: TypeText | undefined
}

/** A type as the declaration states it. */
export interface TypeText {
  /** On one line, without `undefined` in an outer union and without its brackets. */
  readonly text: string
  /** Whether its values include `undefined`: a member of the outer union, `unknown` or `any`. */
  readonly allowsUndefined: boolean
  /** The types that it names, itself or as a part of a union, an intersection or a promise: `A` and `B` of `Promise<A & B>`. */
  readonly names: readonly string[]
}

const kinds: Readonly<Record<string, Declared['kind']>> = {
  TSInterfaceDeclaration: 'interface',
  TSTypeAliasDeclaration: 'type',
  TSDeclareFunction: 'function',
  VariableDeclarator: 'variable',
  ClassDeclaration: 'class'
}

/** A part of a report: an entry point, or what the entry points have in common. */
export interface ReportPart {
  /** The package, without `@concordat/`. */
  readonly package: string
  readonly title: string
  readonly source: string
  readonly statements: readonly Node[]
}

/** Returns the parts of the reports below a root. Throws a `SyntaxError` for a report that is not TypeScript. */
export function readReports(root: string): ReportPart[] {
  return filesUnder(root, 'docs/api/*.md').flatMap((file) => {
    const [head = '', ...parts] = readFileSync(join(root, file), 'utf8').split(/^## /m)
    const [, name = ''] = /^# @concordat\/(\S+):/.exec(head) ?? []
    return parts.map((part) => {
      const [title = ''] = part.split('\n', 1)
      const source = blocksOf(part)
        .map(({ text }) => text)
        .join('\n')
      const { program, errors } = parseSync('report.d.ts', source)
      if (errors[0]) throw new SyntaxError(`${file}, ${title}: ${errors[0].message}`)
      return { package: name, title, source, statements: program.body }
    })
  })
}

/** Returns every declaration of the reports below a root. Throws a `SyntaxError` for a report that is not TypeScript. */
export function readPublicApi(root: string): Declared[] {
  return readReports(root).flatMap(declarationsOf)
}

function declarationsOf({ package: packageName, title, source, statements }: ReportPart): Declared[] {
  const entry = title.startsWith('@') ? title : undefined
  const found: Declared[] = []
  for (const statement of statements) {
    if (statement.type === 'TSModuleDeclaration') for (const inner of bodyOf(statement)) add(inner, true)
    else if (statement.type === 'VariableDeclaration') for (const declarator of statement.declarations) add(declarator, false)
    else if (statement.type === 'ExportNamedDeclaration') for (const { exported } of statement.specifiers) reExport(exported)
    else add(statement, false)
  }
  return found

  function reExport(exported: ModuleExportName) {
    const name = 'name' in exported ? exported.name : exported.value
    found.push({ package: packageName, entry, isAugmentation: false, kind: 're-export', name, type: undefined, members: [] })
  }

  function add(node: Node, isAugmentation: boolean) {
    const kind = kinds[node.type]
    if (kind === undefined || !('id' in node) || node.id?.type !== 'Identifier') return
    const annotation = 'returnType' in node ? node.returnType : node.id.typeAnnotation
    found.push({
      package: packageName,
      entry,
      isAugmentation,
      kind,
      name: node.id.name,
      type: annotation ? typeText(annotation.typeAnnotation, source) : undefined,
      members: membersOf(node, source)
    })
  }
}

function bodyOf(module: Node): readonly Node[] {
  if (module.type !== 'TSModuleDeclaration' || module.body?.type !== 'TSModuleBlock') return []
  return module.body.body.map((node) => (node.type === 'ExportNamedDeclaration' && node.declaration ? node.declaration : node))
}

function membersOf(declaration: Node, source: string) {
  const members: ApiMember[] = []
  let depth = 0
  const add = (node: Member, isMethod: boolean, annotation: { readonly typeAnnotation: Node } | null | undefined) => {
    if (node.computed || (node.key.type !== 'Identifier' && node.key.type !== 'Literal')) return
    members.push({
      name: node.key.type === 'Identifier' ? node.key.name : String(node.key.value),
      isOptional: node.optional,
      isMethod,
      isNested: depth > 1,
      type: annotation ? typeText(annotation.typeAnnotation, source) : undefined
    })
  }
  const enter = () => void depth++
  const leave = () => void depth--
  new Visitor({
    TSInterfaceBody: enter,
    'TSInterfaceBody:exit': leave,
    TSTypeLiteral: enter,
    'TSTypeLiteral:exit': leave,
    TSPropertySignature: (node) => add(node, false, node.typeAnnotation),
    TSMethodSignature: (node) => add(node, true, node.returnType)
  }).visit({ type: 'Program', body: [declaration] } as never)
  return members
}

function typeText(node: Node, source: string): TypeText {
  const parts = node.type === 'TSUnionType' ? node.types : [node]
  const [first, ...others] = parts.filter((part) => !isUndefined(part)).map(withoutBrackets)
  const text = [first, ...others].map((part) => (part ? source.slice(part.start, part.end) : 'undefined')).join(' | ')
  return {
    text: text.replaceAll(/\s+/g, ' '),
    allowsUndefined: parts.some((part) => isUndefined(part) || part.type === 'TSUnknownKeyword' || part.type === 'TSAnyKeyword'),
    names: namesIn(node)
  }
}

function namesIn(node: Node): string[] {
  const inner = withoutBrackets(node)
  if (inner.type === 'TSUnionType' || inner.type === 'TSIntersectionType') return inner.types.flatMap(namesIn)
  if (inner.type !== 'TSTypeReference' || inner.typeName.type !== 'Identifier') return []
  const { name } = inner.typeName
  return name === 'Promise' ? (inner.typeArguments?.params ?? []).flatMap(namesIn) : [name]
}

function isUndefined(node: Node) {
  return node.type === 'TSUndefinedKeyword'
}

function withoutBrackets(node: Node): Node {
  return node.type === 'TSParenthesizedType' ? withoutBrackets(node.typeAnnotation) : node
}

type Member = Extract<Node, { readonly type: 'TSPropertySignature' | 'TSMethodSignature' }>
