import type { Description, OperationObject, Schema } from './description.ts'
import { type DescribedOperation, isJson } from './operations.ts'
import { relationsOf } from './relations.ts'
import type { SchemaTypes } from './schema-types.ts'
import { comment, literal, member, quoted, union } from './words.ts'

const binary = 'Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | ReadableStream'
// Parameters that the client sends itself, or that each call has.
const ownHeaders = new Set([
  'accept',
  'content-type',
  'authorization',
  'idempotency-key',
  'if-match',
  'if-none-match',
  'if-modified-since',
  'accept-language',
  'prefer'
])

/** Writes the types of an operation, without its codes. */
export function operationText(
  description: Description,
  types: SchemaTypes,
  { method, path, operation, isList }: DescribedOperation,
  codes: string,
  resultOf: (path: string) => DescribedOperation | undefined
): string {
  const place = `${method.toUpperCase()} ${path}`
  const members = inputMembers(description, types, operation, place)
  const isRequired = members.some(({ required }) => required)
  const input = members.length === 0 ? 'CallOptions' : `{\n${members.map(({ text }) => text).join('')}        } & CallOptions`
  const args = members.length === 0 ? '[input?: CallOptions]' : `[\n        input${isRequired ? '' : '?'}: ${input}\n      ]`
  const data = dataOf(description, types, operation, place)
  const projection = projectionOf(description, operation, isList, place)
  const result = resultOf((operation['x-job'] as { readonly result?: string } | undefined)?.result ?? '')
  return [
    `${comment(operation.summary ?? operation.description, '    ')}    ${quoted(path)}: {\n`,
    `      args: ${args}\n`,
    `      data: ${data}\n`,
    ...(projection === undefined ? [] : [`      always: ${projection}\n`]),
    ...(result === undefined ? [] : [`      result: ${dataOf(description, types, result.operation, result.path)}\n`]),
    codes,
    '    }\n'
  ].join('')
}

interface InputMember {
  readonly required: boolean
  readonly text: string
}

function inputMembers(description: Description, types: SchemaTypes, operation: OperationObject, place: string): InputMember[] {
  const indent = '          '
  const line = (name: string, required: boolean, type: string) => ({
    required,
    text: `${indent}${name}${required ? `: ${type}` : `?: ${type} | undefined`}\n`
  })
  const group = (where: string, name: string, end = '') => {
    const list = (operation.parameters ?? []).filter(
      (one) => one.in === where && !(where === 'header' && ownHeaders.has(one.name.toLowerCase()))
    )
    if (list.length === 0) return []
    const lines = list.map((one) => {
      const text = types.of(one.schema, 'in', `${place} ${one.name}`, `${indent}  `)
      const isNeeded = where === 'path' || one.required === true
      return `${comment(one.description, `${indent}  `)}${indent}  ${member(one.name)}${isNeeded ? `: ${text}` : `?: ${text} | undefined`}\n`
    })
    const required = where === 'path' || list.some((one) => one.required === true)
    return [line(name, required, `{\n${lines.join('')}${end}${indent}}`)]
  }
  return [
    ...group('path', 'path'),
    ...group('query', 'query'),
    ...group('header', 'headers', `${indent}  [name: string]: string | undefined\n`),
    ...bodyMember(description, types, operation, place, line),
    ...(operation['x-idempotency'] === undefined ? [] : [line('idempotencyKey', false, 'string')]),
    ...(operation['x-if-match'] === undefined ? [] : [line('ifMatch', operation['x-if-match'] === 'required', 'string')])
  ]
}

function bodyMember(
  description: Description,
  types: SchemaTypes,
  { requestBody }: OperationObject,
  place: string,
  line: (name: string, required: boolean, type: string) => InputMember
) {
  const content = Object.entries(requestBody?.content ?? {})
  if (content.length === 0) return []
  const forms = content.map(([type, { schema }]) => {
    if (isJson(type)) return types.of(schema, 'in', `${place} body`, '          ')
    if (type.startsWith('multipart/')) return 'FormData'
    if (type === 'application/x-www-form-urlencoded') return 'URLSearchParams'
    if (type.startsWith('text/')) return 'string'
    if (/\bxml$/.test(type)) {
      description.warnings.add(`${place} body: the form of ${type} is not expressed.`)
      return 'unknown'
    }
    return binary
  })
  return [line('body', requestBody?.required === true, union(forms, '          '))]
}

function dataOf(description: Description, types: SchemaTypes, { responses = {} }: OperationObject, place: string): string {
  const all = Object.entries(responses)
  const good = all.filter(([status]) => status.startsWith('2'))
  const data = (good.length > 0 ? good : all.filter(([status]) => status === 'default')).flatMap(([status, { content }]) => {
    const forms = Object.entries(content ?? {})
    if (forms.length === 0) return ['undefined']
    const json = forms.filter(([type]) => isJson(type))
    if (json.length > 0)
      return json.map(([, { schema }]) => types.of(resourceOf(description, schema, place), 'out', `${place} ${status}`, '      '))
    return forms.map(([type]) => (type.startsWith('text/') ? 'string' : 'Blob'))
  })
  return data.length === 0 ? 'undefined' : union(data, '      ')
}

// `data` of the envelope, as the run time takes it.
function resourceOf(description: Description, schema: Schema | boolean | undefined, place: string): Schema | boolean | undefined {
  const { properties } = (description.resolve(schema, place) ?? {}) as Schema
  return properties?.['_meta'] !== undefined && properties['data'] !== undefined ? properties['data'] : schema
}

/** The members that a resource has in any selection of `fields`, where it can be selected, and its relations, which `include` selects. */
function projectionOf(
  description: Description,
  { responses = {}, parameters = [] }: OperationObject,
  isList: boolean,
  place: string
): string | undefined {
  if (!parameters.some(({ name, in: where }) => name === 'fields' && where === 'query')) return undefined
  const media = responses['200']?.content?.['application/json']
  const resource = description.resolve(resourceOf(description, media?.schema, place), place) as Schema | undefined
  const item = isList ? (description.resolve(resource?.items, place) as Schema | undefined) : resource
  const forms = item?.anyOf ?? item?.oneOf ?? []
  const partial = forms.map((one) => description.resolve(one, place) as Schema).find((one) => one['x-projection'] === true)
  if (partial === undefined) return undefined
  return union([...(partial.required ?? []), ...Object.keys(relationsOf(description, forms, place))].map(literal))
}
