import type { AnySchemaObject } from 'ajv/dist/2019.js'

const inPlaceLists = ['allOf', 'anyOf', 'oneOf']
const inPlaceOnes = ['then', 'else']
const valueMaps = ['properties', 'patternProperties']
const valueOnes = ['items', 'additionalItems', 'additionalProperties', 'unevaluatedProperties', 'unevaluatedItems']
const definitionMaps = ['definitions', '$defs', 'dependentSchemas']
const saysItself = ['additionalProperties', 'unevaluatedProperties']

/**
 * A copy of the schema in which every object that does not say otherwise refuses unknown properties.
 * `unevaluatedProperties` is put where a value begins, never inside `allOf` and its kin: it sees through them, and closing
 * their branches would make them refuse one another's properties. Schemas that are only referenced stay open at their top
 * (`'inside'`) for the same reason; the place that refers to them closes them. Conditions (`if`, `not`, `contains`) stay
 * as they are: a condition that is made stricter decides otherwise.
 */
export function closeObjects(schema: AnySchemaObject, where: 'whole' | 'inside'): AnySchemaObject {
  if (typeof schema !== 'object' || schema === null) return schema
  const copy: AnySchemaObject = { ...schema }
  for (const key of inPlaceLists)
    if (Array.isArray(schema[key])) copy[key] = schema[key].map((part: AnySchemaObject) => closeObjects(part, 'inside'))
  for (const key of inPlaceOnes) if (schema[key] !== undefined) copy[key] = closeObjects(schema[key], 'inside')
  for (const key of valueMaps) if (schema[key] !== undefined) copy[key] = mapValues(schema[key], 'whole')
  for (const key of definitionMaps) if (schema[key] !== undefined) copy[key] = mapValues(schema[key], 'inside')
  for (const key of valueOnes) {
    if (Array.isArray(schema[key])) copy[key] = schema[key].map((part: AnySchemaObject) => closeObjects(part, 'whole'))
    else if (schema[key] !== undefined) copy[key] = closeObjects(schema[key], 'whole')
  }
  if (where === 'whole' && describesObject(schema) && !saysItself.some((key) => key in schema)) copy['unevaluatedProperties'] = false
  return copy
}

function mapValues(schemas: Readonly<Record<string, AnySchemaObject>>, where: 'whole' | 'inside') {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, closeObjects(schema, where)]))
}

function describesObject(schema: AnySchemaObject): boolean {
  return 'properties' in schema || 'patternProperties' in schema || '$ref' in schema || inPlaceLists.some((key) => key in schema)
}
