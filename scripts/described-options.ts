// The interfaces of described options, as a reader of the API sees them: with the members that follow from the description.
import { type Node, parseSync, type TSType, Visitor } from 'oxc-parser'

type Literal = Extract<TSType, { type: 'TSTypeLiteral' }>

/**
 * Returns a declaration file in which `interface JobsOptions extends OptionsOf<typeof jobsOptions> {}` has its members instead: the description is an
 * exported variable of the same file, whose type the compiler has written.
 */
export function withDescribedMembers(file: string, source: string): string {
  if (!source.includes('OptionsOf<typeof ')) return source
  const { program } = parseSync(file, source)
  const descriptions = new Map<string, Literal>()
  const edits: { readonly start: number; readonly end: number; readonly text: string }[] = []
  new Visitor({
    VariableDeclarator({ id }) {
      if (id.type !== 'Identifier') return
      const literal = argumentOf(id.typeAnnotation?.typeAnnotation, 'DescribedOptions')
      if (literal?.type === 'TSTypeLiteral') descriptions.set(id.name, literal)
    },
    TSInterfaceDeclaration({ id, extends: [base], body }) {
      const query = base?.typeArguments?.params[0]
      if (query?.type !== 'TSTypeQuery' || query.exprName.type !== 'Identifier') return
      const literal = descriptions.get(query.exprName.name)
      if (literal === undefined) throw new Error(`${file}: export ${query.exprName.name} before the interface ${id.name}.`)
      edits.push({ start: id.end, end: body.end, text: ` {\n${membersOf(literal, source)}\n}` })
    }
  }).visit(program)
  return edited(source, 0, source.length, edits)
}

function membersOf(literal: Literal, source: string): string {
  let before = literal.start + 1
  const members = literal.members.map((member) => {
    if (member.type !== 'TSPropertySignature' || member.key.type !== 'Identifier') throw new Error('A description has only named members.')
    const comment = source.slice(before, member.start).trim()
    before = member.end
    const type = member.typeAnnotation?.typeAnnotation as TSType
    const isRequired = /isRequired: true|\bRequiredOption</.test(source.slice(type.start, type.end))
    const given = givenOf(type, source)
    const isAlone = !given.includes('=>')
    const text = isRequired ? `: ${given}` : `?: ${isAlone ? given : `(${given})`} | undefined`
    return `${comment === '' ? '' : `    ${comment}\n`}    readonly ${member.key.name}${text};`
  })
  return members.join('\n')
}

/** The type of the values that an option accepts. */
function givenOf(type: TSType, source: string): string {
  const option = type.type === 'TSIntersectionType' ? (type.types[0] as TSType) : type
  const given = argumentOf(option, 'Option') ?? argumentOf(option, 'RequiredOption')
  if (given === undefined) throw new Error(`${source.slice(type.start, type.end)} is not an option.`)
  const edits: { readonly start: number; readonly end: number; readonly text: string }[] = []
  new Visitor({ TSImportType: nested, TSTypeReference: nested }).visit({ type: 'Program', body: [given] } as never)
  return edited(source, given.start, given.end, edits)

  function nested(node: Node) {
    const literal = argumentOf(node as TSType, 'GivenOptions')
    if (literal?.type === 'TSTypeLiteral') edits.push({ start: node.start, end: node.end, text: `{\n${membersOf(literal, source)}\n}` })
  }
}

/** The first type argument of a type with this name, imported in place or not. */
function argumentOf(type: TSType | undefined, name: string): TSType | undefined {
  if (type?.type === 'TSImportType') {
    const { qualifier } = type
    return qualifier?.type === 'Identifier' && qualifier.name === name ? type.typeArguments?.params[0] : undefined
  }
  if (type?.type !== 'TSTypeReference' || type.typeName.type !== 'Identifier' || type.typeName.name !== name) return undefined
  return type.typeArguments?.params[0]
}

function edited(
  source: string,
  start: number,
  end: number,
  edits: readonly { readonly start: number; readonly end: number; readonly text: string }[]
) {
  let text = ''
  let at = start
  for (const edit of edits) {
    if (edit.start < at) continue
    text += source.slice(at, edit.start) + edit.text
    at = edit.end
  }
  return text + source.slice(at, end)
}
