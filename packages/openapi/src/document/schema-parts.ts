import { isObject, type JsonSchema } from '@concordat/plugin-kit/json-schema'
import { mapValues } from './document.ts'

// Of JSON Schema 2020-12, and of draft 7, in which routes can be described.
const single = `items additionalItems unevaluatedItems contains additionalProperties unevaluatedProperties propertyNames
  not if then else contentSchema`.split(/\s+/)
const lists = ['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items']
const maps = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies']

/** Returns a copy of a schema in which each direct subschema is replaced by the result of `change`. Its path is for example `properties/total`. */
export function mapSubschemas(schema: JsonSchema, change: (schema: JsonSchema, path: string) => JsonSchema): JsonSchema {
  const copy: Record<string, unknown> = { ...schema }
  const changed = (one: unknown, path: string) => (isObject(one) ? change(one, path) : one)
  for (const key of single) if (isObject(copy[key])) copy[key] = change(copy[key], key)
  for (const key of lists) if (Array.isArray(copy[key])) copy[key] = copy[key].map((one, index) => changed(one, `${key}/${index}`))
  for (const key of maps) {
    const map = copy[key]
    if (isObject(map)) copy[key] = mapValues(map, (one, name) => changed(one, `${key}/${name}`))
  }
  return copy
}

/** Returns the direct subschemas of a schema, each with its path in the schema. */
export function subschemas(schema: JsonSchema): readonly (readonly [path: string, schema: JsonSchema])[] {
  const found: (readonly [string, JsonSchema])[] = []
  mapSubschemas(schema, (inner, path) => {
    found.push([path, inner])
    return inner
  })
  return found
}

/** Returns the schemas in the lists under these keywords: the branches of `anyOf` and `oneOf`. */
export function schemasUnder(schema: JsonSchema, keys: readonly string[] = ['anyOf', 'oneOf']): readonly JsonSchema[] {
  return keys.flatMap((key) => (Array.isArray(schema[key]) ? schema[key].filter(isObject) : []))
}

/** Returns whether a schema describes an object or a union, which a client generator turns into a type. */
export function isComposite(schema: JsonSchema): boolean {
  return ['properties', 'allOf', 'anyOf', 'oneOf', 'additionalProperties'].some(
    (key) => isObject(schema[key]) || Array.isArray(schema[key])
  )
}

/** Returns the types of a schema, or an empty list when it has no `type`. */
export function typesOf(schema: JsonSchema): readonly string[] {
  const { type } = schema
  if (typeof type === 'string') return [type]
  return Array.isArray(type) ? type.filter((one) => typeof one === 'string') : []
}

/** Returns the properties that a schema declares. */
export function propertiesOf(schema: JsonSchema): Readonly<Record<string, JsonSchema>> {
  return isObject(schema['properties']) ? (schema['properties'] as Record<string, JsonSchema>) : {}
}

/** Returns whether a schema describes a response in the envelope. */
export function isEnveloped(schema: JsonSchema): boolean {
  const { data, _links, _meta } = propertiesOf(schema)
  return data !== undefined && _links !== undefined && _meta !== undefined
}

/** Returns the names of the required properties of a schema. */
export function requiredOf(schema: JsonSchema): readonly string[] {
  return Array.isArray(schema['required']) ? schema['required'].filter((name) => typeof name === 'string') : []
}
