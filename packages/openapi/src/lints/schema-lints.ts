import { isObject, type JsonSchema, typeOfJson } from '@concordat/plugin-kit/json-schema'
import { follow } from '../document/document.ts'
import { schemasUnder, typesOf } from '../document/schema-parts.ts'
import { capital } from '../document/words.ts'
import type { Lint, Objections, SchemaSite } from './lint-sites.ts'

/** The lints for the rules about representations (F). */
export const schemaLints: readonly Lint<SchemaSite>[] = [
  { id: 'F1', check: camelCase },
  { id: 'F2', check: isoDates },
  { id: 'F3', check: documentedNull },
  { id: 'F4', check: oneType },
  { id: 'F5', check: arraysAreNeverNull },
  { id: 'F7', check: nestedByObjects },
  { id: 'F8', check: opaqueIdentifiers }
]

function* camelCase({ name }: SchemaSite): Objections {
  if (name === undefined || /^(?:_links|_meta|[a-z][a-zA-Z0-9]*)$/.test(name)) return
  const words = name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').match(/[A-Za-z0-9]+/g) ?? []
  const right = words.map((word, index) => (index === 0 ? word.toLowerCase() : capital(word.toLowerCase()))).join('')
  yield [`"${name}" is not in camelCase.`, right === '' ? 'Use an English name.' : `Rename it to "${right}".`]
}

function* isoDates({ name, schema, document }: SchemaSite): Objections {
  if (name === undefined || !/[a-z](?:At|Date|DateTime|Timestamp)$|^(?:date|dateTime|timestamp)$/.test(name)) return
  const target = follow<JsonSchema>(document, schema) ?? schema
  const isWrong = [target, ...schemasUnder(target)].some((one) => {
    const isFree = !['date-time', 'date'].includes(String(one['format'])) && !('enum' in one) && !('const' in one)
    return typesOf(one).some((type) => type === 'integer' || type === 'number' || (type === 'string' && isFree))
  })
  if (isWrong)
    yield [`"${name}" is a time, but it is not declared in an ISO 8601 format.`, 'Use a string with the format "date-time" or "date".']
}

function* documentedNull({ schema, place }: SchemaSite): Objections {
  const { description } = schema
  const isOnlyNull = typesOf(schema).every((type) => type === 'null') && schemasUnder(schema).length === 0
  if (!allowsNull(schema) || isOnlyNull || (typeof description === 'string' && description.trim() !== '')) return
  yield [
    `${lastOf(place)} can be null, but its description does not say what null means.`,
    'Add a description, or omit the field when it has no value.'
  ]
}

function* oneType({ schema, document, place }: SchemaSite): Objections {
  const { enum: values } = schema
  const inBranches = schemasUnder(schema).flatMap((branch) => jsonTypesOf(follow<JsonSchema>(document, branch) ?? {}))
  for (const types of [typesOf(schema), inBranches, Array.isArray(values) ? values.map(typeOfJson) : []]) {
    const different = new Set(types.map((type) => (type === 'integer' ? 'number' : type)))
    different.delete('null')
    if (different.size < 2) continue
    yield [`${lastOf(place)} can be ${[...different].join(' or ')}.`, 'Use a single JSON type, or a field for each type.']
    return
  }
}

function jsonTypesOf(schema: JsonSchema): readonly string[] {
  const types = typesOf(schema)
  if (types.length > 0) return types
  if ('const' in schema) return [typeOfJson(schema['const'])]
  if (Array.isArray(schema['enum'])) return schema['enum'].map(typeOfJson)
  return isObject(schema['properties']) ? ['object'] : []
}

function* arraysAreNeverNull({ schema, document, place }: SchemaSite): Objections {
  const branches = schemasUnder(schema).map((branch): JsonSchema => follow<JsonSchema>(document, branch) ?? branch)
  if ([schema, ...branches].some((one) => typesOf(one).includes('array')) && allowsNull(schema))
    yield [`the list ${lastOf(place)} can be null.`, 'Return [] when it is empty, and remove null from its types.']
}

function* nestedByObjects({ schema, place }: SchemaSite): Objections {
  const { contentMediaType, format } = schema
  if (typesOf(schema).includes('string') && (format === 'json' || /[/+]json\b/.test(String(contentMediaType))))
    yield [`${lastOf(place)} is JSON in a string.`, 'Nest the object or array directly.']
}

function* opaqueIdentifiers({ name, schema, document }: SchemaSite): Objections {
  if (name === undefined || !/^id$|[a-z0-9]Ids?$/.test(name)) return
  const target = follow<JsonSchema>(document, schema) ?? schema
  const value = typesOf(target).includes('array') && isObject(target['items']) ? target['items'] : target
  if (typesOf(value).some((type) => type === 'integer' || type === 'number'))
    yield [`"${name}" is a number, so its values can be guessed.`, 'Use a random UUID: a string with the format "uuid".']
}

function allowsNull(schema: JsonSchema) {
  return schema['nullable'] === true || [schema, ...schemasUnder(schema)].some((one) => typesOf(one).includes('null'))
}

function lastOf(place: string) {
  return `"${place.replace(/^.*[. ](?=.)/s, '')}"`
}
