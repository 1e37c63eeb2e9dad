// The names of all options, nested ones too, from the committed reports of the public API in docs/api.
import { readReports } from '@concordat/test-harness/public-api'
import { type Node, parseSync } from 'oxc-parser'

/** The options of an object: each is `undefined`, or what its members are. */
export type OptionTree =
  | { readonly members: ReadonlyMap<string, OptionTree | undefined> }
  | { readonly values: OptionTree }
  | { readonly items: OptionTree }

/** Where options are passed: a parameter of an exported function, or the options of an exported plugin. */
export interface OptionPlace {
  /** The entry point, for example `@concordat/webhooks/receiver`. */
  readonly entry: string
  readonly name: string
  /** The index of the parameter; `undefined` for a plugin. */
  readonly parameter: number | undefined
  /** The type as written, without its arguments. */
  readonly type: string
  readonly tree: OptionTree
}

/** A key of a route's `config` whose value has options. */
export interface RouteConfigKey {
  /** The package that declares it. */
  readonly owner: string
  readonly key: string
  readonly tree: OptionTree
}

/** What the reports say about options. */
export interface PublishedOptions {
  readonly places: readonly OptionPlace[]
  readonly configs: readonly RouteConfigKey[]
  /** Every declared type whose name says that a person fills it in, as `package.Name`. */
  readonly types: readonly string[]
  /** Returns the options of a type, given as `package.Name`. */
  readonly treeOf: (type: string) => OptionTree | undefined
  /** The types that a tree contains, as `package.Name`. */
  readonly reached: ReadonlySet<string>
}

type Object = { readonly members: Map<string, OptionTree | undefined> }

const wrappers = new Set(['Readonly', 'Partial', 'Required', 'NonNullable', 'NoInfer'])

/** Reads the reports below a root. `excluded` are types, as `package.Name`, whose members are not options. */
export function readOptions(root: string, excluded: ReadonlySet<string>): PublishedOptions {
  const types = new Map<string, Node>()
  const found: { readonly entry: string; readonly owner: string; readonly node: Node }[] = []
  for (const { owner, entry, source } of readReports(root)) {
    for (const node of parseSync('a.d.ts', source).program.body) {
      const name = 'id' in node && node.id?.type === 'Identifier' ? node.id.name : ''
      if (/^TS(Interface|TypeAlias)/.test(node.type)) types.set(`${owner}.${name}`, types.get(`${owner}.${name}`) ?? node)
      else found.push({ entry, owner, node })
    }
  }
  const reached = new Set<string>()

  function find(owner: string, name: string) {
    const own = `${owner}.${name}`
    return types.has(own) ? own : [...types.keys()].find((type) => type.endsWith(`.${name}`))
  }

  function named(type: string, isRoot = false): OptionTree | undefined {
    const node = types.get(type) as Node
    if (excluded.has(type)) return undefined
    const [owner = ''] = type.split('.', 1)
    if (node.type === 'TSTypeAliasDeclaration') return remember(type, treeOf(node.typeAnnotation, owner))
    if (node.type !== 'TSInterfaceDeclaration') return undefined
    // An object with methods is an instance.
    if (!isRoot && node.body.body.some((member) => member.type === 'TSMethodSignature')) return undefined
    const parents = node.extends.map(({ expression, typeArguments }) =>
      reference(expression.type === 'Identifier' ? expression.name : '', typeArguments?.params ?? [], owner)
    )
    return remember(type, merged([literal(node.body.body, owner), ...parents]))
  }

  function remember(type: string, tree: OptionTree | undefined) {
    if (tree !== undefined) reached.add(type)
    return tree
  }

  function reference(name: string, parameters: readonly Node[], owner: string): OptionTree | undefined {
    const [first, second] = parameters
    if (wrappers.has(name)) return first && treeOf(first, owner)
    if (name === 'Record') return wrap(second && treeOf(second, owner), (values) => ({ values }))
    if (name === 'Pick' || name === 'Omit') return chosen(first && treeOf(first, owner), second, name === 'Pick', owner)
    const type = find(owner, name)
    return type === undefined ? undefined : named(type)
  }

  function chosen(tree: OptionTree | undefined, keys: Node | undefined, isPick: boolean, owner: string) {
    if (tree === undefined || !('members' in tree) || keys === undefined) return tree
    const names = new Set(keysOf(keys, owner))
    return { members: new Map([...tree.members].filter(([name]) => names.has(name) === isPick)) }
  }

  function keysOf(node: Node, owner: string): string[] {
    if (node.type === 'TSUnionType') return node.types.flatMap((part) => keysOf(part, owner))
    if (node.type === 'TSLiteralType' && node.literal.type === 'Literal') return [String(node.literal.value)]
    const tree = node.type === 'TSTypeOperator' ? treeOf(node.typeAnnotation, owner) : undefined
    return tree && 'members' in tree ? [...tree.members.keys()] : []
  }

  function literal(body: readonly Node[], owner: string): Object {
    const members = new Map<string, OptionTree | undefined>()
    for (const member of body) {
      if ((member.type !== 'TSPropertySignature' && member.type !== 'TSMethodSignature') || member.key.type !== 'Identifier') continue
      const type = member.type === 'TSPropertySignature' ? member.typeAnnotation?.typeAnnotation : undefined
      members.set(member.key.name, type && treeOf(type, owner))
    }
    return { members }
  }

  function treeOf(node: Node, owner: string): OptionTree | undefined {
    if (node.type === 'TSParenthesizedType') return treeOf(node.typeAnnotation, owner)
    if (node.type === 'TSTypeOperator' && node.operator === 'readonly') return treeOf(node.typeAnnotation, owner)
    if (node.type === 'TSUnionType' || node.type === 'TSIntersectionType') return merged(node.types.map((part) => treeOf(part, owner)))
    if (node.type === 'TSArrayType') return wrap(treeOf(node.elementType, owner), (items) => ({ items }))
    if (node.type === 'TSTypeLiteral') return literal(node.members, owner)
    if (node.type !== 'TSTypeReference' || node.typeName.type !== 'Identifier') return undefined
    return reference(node.typeName.name, node.typeArguments?.params ?? [], owner)
  }

  const places = found.flatMap(({ entry, owner, node }): OptionPlace[] => {
    if (node.type === 'TSDeclareFunction' && node.id) {
      const { name } = node.id
      return node.params.flatMap((param, parameter) => {
        const annotation = 'typeAnnotation' in param ? param.typeAnnotation?.typeAnnotation : undefined
        return placeOf(entry, name, parameter, annotation, owner)
      })
    }
    if (node.type !== 'VariableDeclaration') return []
    return node.declarations.flatMap(({ id }) => {
      const type = 'typeAnnotation' in id ? id.typeAnnotation?.typeAnnotation : undefined
      if (id.type !== 'Identifier' || type?.type !== 'TSTypeReference' || type.typeName.type !== 'Identifier') return []
      return type.typeName.name === 'FastifyPluginAsync' ? placeOf(entry, id.name, undefined, type.typeArguments?.params[0], owner) : []
    })
  })

  function placeOf(entry: string, name: string, parameter: number | undefined, annotation: Node | undefined, owner: string): OptionPlace[] {
    const tree = annotation && treeOf(annotation, owner)
    return tree === undefined ? [] : [{ entry, name, parameter, type: nameOf(annotation), tree }]
  }

  const configs = found.flatMap(({ owner, node }) => configsOf(node, owner))

  function configsOf(node: Node, owner: string): RouteConfigKey[] {
    if (node.type !== 'TSModuleDeclaration' || node.body?.type !== 'TSModuleBlock') return []
    return node.body.body.flatMap((inner) => {
      if (inner.type !== 'TSInterfaceDeclaration' || inner.id.name !== 'FastifyContextConfig') return []
      const { members } = literal(inner.body.body, owner)
      return [...members].flatMap(([key, tree]) => (tree === undefined ? [] : [{ owner, key, tree }]))
    })
  }

  const configured = /(Options|Definition|Declaration|Config|Rules|Route)$/
  return {
    places,
    configs,
    types: [...types.keys()].filter((type) => configured.test(type)),
    treeOf: (type) => named(type, true),
    reached
  }
}

function nameOf(node: Node | undefined): string {
  if (node?.type === 'TSTypeOperator') return nameOf(node.typeAnnotation)
  if (node?.type === 'TSArrayType') return nameOf(node.elementType)
  if (node?.type !== 'TSTypeReference' || node.typeName.type !== 'Identifier') return node?.type ?? ''
  const { name } = node.typeName
  return wrappers.has(name) ? nameOf(node.typeArguments?.params[0]) : name
}

function wrap(tree: OptionTree | undefined, put: (tree: OptionTree) => OptionTree) {
  return tree && put(tree)
}

/** The options of a union or an intersection: those of all its objects. */
function merged(trees: readonly (OptionTree | undefined)[]): OptionTree | undefined {
  const known = trees.filter((tree) => tree !== undefined)
  const objects = known.filter((tree): tree is Object => 'members' in tree)
  if (objects.length === 0) return known[0]
  return { members: new Map(objects.flatMap(({ members }) => [...members])) }
}
