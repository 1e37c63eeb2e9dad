import { isObject, type JsonSchema } from '@concordat/json-schema'
import { follow } from './document.ts'
import type { SchemaSite } from './lint-sites.ts'
import { typesOf } from './schema-parts.ts'

/** The problem and the remedy that a lint reports, or undefined if it finds no problem. */
export type Objection = readonly [problem: string, remedy: string] | undefined

/** A lint that checks a rule on each schema. */
export interface SchemaLint {
  readonly id: string
  readonly check: (site: SchemaSite) => Objection
}

/** The lints for the rules about representations (F). */
export const schemaLints: readonly SchemaLint[] = [
  { id: 'F1', check: camelCase },
  { id: 'F2', check: isoDates },
  { id: 'F3', check: documentedNull },
  { id: 'F4', check: oneType },
  { id: 'F5', check: arraysAreNeverNull },
  { id: 'F7', check: nestedByObjects },
  { id: 'F8', check: opaqueIdentifiers }
]

const ownMembers = new Set(['_links', '_meta'])

function camelCase({ name }: SchemaSite): Objection {
  if (name === undefined || ownMembers.has(name) || /^[a-z][a-zA-Z0-9]*$/.test(name)) return undefined
  const words = name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').split(/[^A-Za-z0-9]+/)
  const right = words
    .filter((word) => word !== '')
    .map((word, index) => (index === 0 ? word.toLowerCase() : word[0]?.toUpperCase() + word.slice(1).toLowerCase()))
    .join('')
  return [`"${name}" is not in camelCase.`, right === '' ? 'Use an English name.' : `Rename it to "${right}".`]
}

const timeName = /(?:[a-z](?:At|Date|DateTime|Timestamp))$|^(?:date|dateTime|timestamp)$/
const timeFormats = new Set(['date-time', 'date'])

function isoDates({ name, schema, document }: SchemaSite): Objection {
  if (name === undefined || !timeName.test(name)) return undefined
  const target = follow<JsonSchema>(document, schema) ?? schema
  const branches = alternatives(target)
  const wrong = [target, ...branches].some((one) =>
    typesOf(one).some(
      (type) => type === 'integer' || type === 'number' || (type === 'string' && !timeFormats.has(String(one['format'])) && !isClosed(one))
    )
  )
  return wrong
    ? [`"${name}" is a time, but it is not declared in an ISO 8601 format.`, 'Use a string with the format "date-time" or "date".']
    : undefined
}

function isClosed(schema: JsonSchema) {
  return 'enum' in schema || 'const' in schema
}

function documentedNull({ schema, place }: SchemaSite): Objection {
  if (!allowsNull(schema) || (typesOf(schema).every((type) => type === 'null') && alternatives(schema).length === 0)) return undefined
  if (typeof schema['description'] === 'string' && schema['description'].trim() !== '') return undefined
  return [
    `${lastOf(place)} can be null, but its description does not say what null means.`,
    'Add a description, or omit the field when it has no value.'
  ]
}

function oneType({ schema, document, place }: SchemaSite): Objection {
  const own = typesOf(schema)
  const inBranches = alternatives(schema).flatMap((branch) => {
    const target = follow<JsonSchema>(document, branch)
    return target === undefined ? [] : jsonTypesOf(target)
  })
  const inValues = Array.isArray(schema['enum']) ? (schema['enum'] as readonly unknown[]).map(jsonTypeOf) : []
  for (const types of [own, inBranches, inValues]) {
    const different = [...new Set(types.filter((type) => type !== 'null').map((type) => (type === 'integer' ? 'number' : type)))]
    if (different.length > 1) {
      return [`${lastOf(place)} can be ${different.join(' or ')}.`, 'Use a single JSON type, or a field for each type.']
    }
  }
  return undefined
}

function jsonTypesOf(schema: JsonSchema): readonly string[] {
  const types = typesOf(schema)
  if (types.length > 0) return types
  if ('const' in schema) return [jsonTypeOf(schema['const'])]
  if (Array.isArray(schema['enum'])) return schema['enum'].map(jsonTypeOf)
  return isObject(schema['properties']) ? ['object'] : []
}

function jsonTypeOf(value: unknown) {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

function arraysAreNeverNull({ schema, document, place }: SchemaSite): Objection {
  const branches = alternatives(schema).map((branch): JsonSchema => follow<JsonSchema>(document, branch) ?? branch)
  const isArray = typesOf(schema).includes('array') || branches.some((branch) => typesOf(branch).includes('array'))
  return isArray && allowsNull(schema)
    ? [`the list ${lastOf(place)} can be null.`, 'Return [] when it is empty, and remove null from its types.']
    : undefined
}

function nestedByObjects({ schema, place }: SchemaSite): Objection {
  const { contentMediaType, format } = schema
  const isText = typesOf(schema).includes('string') && (format === 'json' || /[/+]json\b/.test(String(contentMediaType)))
  return isText ? [`${lastOf(place)} is JSON in a string.`, 'Nest the object or array directly.'] : undefined
}

function opaqueIdentifiers({ name, schema, document }: SchemaSite): Objection {
  if (name === undefined || !/^id$|[a-z0-9]Ids?$/.test(name)) return undefined
  const target = follow<JsonSchema>(document, schema) ?? schema
  const value = typesOf(target).includes('array') && isObject(target['items']) ? target['items'] : target
  const numbers = typesOf(value).filter((type) => type === 'integer' || type === 'number')
  return numbers.length === 0
    ? undefined
    : [`"${name}" is a number, so its values can be guessed.`, 'Use a random UUID: a string with the format "uuid".']
}

function allowsNull(schema: JsonSchema) {
  return (
    typesOf(schema).includes('null') ||
    schema['nullable'] === true ||
    alternatives(schema).some((branch) => typesOf(branch).includes('null'))
  )
}

function alternatives(schema: JsonSchema): readonly JsonSchema[] {
  return [schema['anyOf'], schema['oneOf']].flatMap((list): readonly JsonSchema[] => (Array.isArray(list) ? list.filter(isObject) : []))
}

function lastOf(place: string) {
  return `"${place.replace(/^.*[. ](?=.)/s, '')}"`
}
