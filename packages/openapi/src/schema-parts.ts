import { isObject, type JsonSchema } from '@concordat/json-schema'

// Of JSON Schema 2020-12, and of draft 7, in which routes can be described.
const single = `items additionalItems unevaluatedItems contains additionalProperties unevaluatedProperties propertyNames
  not if then else contentSchema`.split(/\s+/)
const lists = ['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items']
const maps = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies']

/** Returns the direct subschemas of a schema, each with its path in the schema (`properties/total`). */
export function subschemas(schema: JsonSchema): readonly (readonly [path: string, schema: JsonSchema])[] {
  const found: (readonly [string, JsonSchema])[] = []
  for (const key of single) if (isObject(schema[key])) found.push([key, schema[key]])
  for (const key of lists) {
    const list = schema[key]
    if (Array.isArray(list)) for (const [index, one] of list.entries()) if (isObject(one)) found.push([`${key}/${index}`, one])
  }
  for (const key of maps) {
    const map = schema[key]
    if (isObject(map)) for (const [name, one] of Object.entries(map)) if (isObject(one)) found.push([`${key}/${name}`, one])
  }
  return found
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

/** Returns a copy of a schema in which each direct subschema (in `properties`, `allOf` and so on) is replaced by the result of `change`. */
export function mapSubschemas(schema: JsonSchema, change: (schema: JsonSchema) => JsonSchema): JsonSchema {
  const copy: Record<string, unknown> = { ...schema }
  for (const key of single) if (isObject(copy[key])) copy[key] = change(copy[key])
  for (const key of lists) if (Array.isArray(copy[key])) copy[key] = copy[key].map((one) => (isObject(one) ? change(one) : one))
  for (const key of maps) {
    const map = copy[key]
    if (isObject(map)) copy[key] = Object.fromEntries(Object.entries(map).map(([name, one]) => [name, isObject(one) ? change(one) : one]))
  }
  return copy
}
