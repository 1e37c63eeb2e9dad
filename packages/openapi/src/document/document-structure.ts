import { isObject, pointerOf } from '@concordat/plugin-kit/json-schema'
import { follow, type OpenapiDocument } from './document.ts'
import { reportLine } from './report-line.ts'

/** The members of a kind of object, each with its container and the kind of its values. `true` is any text, and schemas contain anything. */
type Kind = Readonly<Record<string, readonly [container: 'one' | 'list' | 'map', kind: Kind | true]>>

const schema: Kind = {}
const media: Kind = { schema: ['one', schema], examples: ['map', {}] }
const content = ['map', media] as const
const header: Kind = { schema: ['one', schema], content }
const parameter: Kind = { ...header, name: ['one', true], in: ['one', true] }
const response: Kind = { headers: ['map', header], content }
const requestBody: Kind = { content }
const operation: Kind = {
  operationId: ['one', true],
  tags: ['list', true],
  parameters: ['list', parameter],
  requestBody: ['one', requestBody],
  responses: ['map', response],
  security: ['list', {}]
}
const methods = ['get', 'head', 'options', 'post', 'put', 'patch', 'delete', 'trace', 'query']
const pathItem: Kind = {
  ...Object.fromEntries(methods.map((method) => [method, ['one', operation] as const])),
  parameters: ['list', parameter],
  additionalOperations: ['map', operation],
  'x-oai-additionalOperations': ['map', operation]
}
const components: Kind = {
  schemas: ['map', schema],
  responses: ['map', response],
  parameters: ['map', parameter],
  headers: ['map', header],
  requestBodies: ['map', requestBody],
  securitySchemes: ['map', {}]
}
const root: Kind = {
  info: ['one', {}],
  servers: ['list', { url: ['one', true] }],
  tags: ['list', { name: ['one', true] }],
  security: ['list', {}],
  paths: ['map', pathItem],
  webhooks: ['map', pathItem],
  components: ['one', components]
}
/** The members without which an object of a kind cannot be read. A request body without content has none in any media type. */
const required = new Map<Kind, readonly string[]>([
  [parameter, ['name', 'in']],
  [requestBody, ['content']],
  [root['servers']?.[1] as Kind, ['url']]
])

/**
 * Throws a `TypeError` of one line that names the first member of a document that is not of the kind that OpenAPI 3.1 defines, also where references
 * lead. Does not read what is in schemas.
 */
export function requireStructure(document: OpenapiDocument, name: string): void {
  const seen = new Map<object, Set<Kind>>()
  check(document, root, '#')

  function check(value: unknown, kind: Kind | true, pointer: string): void {
    if (kind === true) {
      if (typeof value !== 'string') throw invalid(pointer, 'a text')
      return
    }
    if (kind === schema && typeof value === 'boolean') return
    if (!isObject(value)) throw invalid(pointer, 'an object')
    if (typeof value['$ref'] === 'string') {
      const target = kind === schema ? undefined : follow(document, value)
      if (target !== undefined) check(target, kind, value['$ref'])
      return
    }
    const kinds = seen.get(value) ?? new Set()
    if (kinds.has(kind)) return
    seen.set(value, kinds.add(kind))
    for (const member of required.get(kind) ?? []) if (!Object.hasOwn(value, member)) throw invalid(`${pointer}/${member}`, 'present')
    for (const [member, [container, inner]] of Object.entries(kind))
      if (value[member] !== undefined && Object.hasOwn(value, member)) checkMember(value[member], container, inner, `${pointer}/${member}`)
  }

  function checkMember(value: unknown, container: 'one' | 'list' | 'map', kind: Kind | true, pointer: string) {
    if (container === 'one') return check(value, kind, pointer)
    if (container === 'list' ? !Array.isArray(value) : !isObject(value))
      throw invalid(pointer, container === 'list' ? 'an array' : 'an object')
    for (const [key, one] of Object.entries(value as object))
      if (!key.startsWith('x-') || container === 'list') check(one, kind, pointer + pointerOf([key]))
  }

  function invalid(pointer: string, kind: string) {
    return new TypeError(reportLine(`openapi: ${name} is not a valid OpenAPI 3.1 document: ${pointer} must be ${kind}.`))
  }
}
