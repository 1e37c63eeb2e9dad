import type { AnySchemaObject } from 'ajv/dist/2019.js'

const branches = ['allOf', 'anyOf', 'oneOf']
const maps = new Set(['properties', 'patternProperties', 'definitions', '$defs', 'dependentSchemas'])
// Schemas of values, and schemas of a part of a value or that others refer to.
const wholes = [
  'properties',
  'patternProperties',
  'items',
  'additionalItems',
  'additionalProperties',
  'unevaluatedProperties',
  'unevaluatedItems'
]
const insides = [...branches, 'then', 'else', 'definitions', '$defs', 'dependentSchemas']
const namesItself = ['additionalProperties', 'unevaluatedProperties']

/**
 * Creates functions that copy schemas so that objects reject unknown properties, unless they set `additionalProperties` or `unevaluatedProperties`:
 * `closed` for a route's schema, and `openAtTop` for shared schemas, which the schema that refers to them closes, and for headers. They add
 * `unevaluatedProperties` at the top level of each value, never in branches, which would reject each other's properties. Conditions do not change,
 * because a stricter condition has another result. A copy of a shared schema becomes a reference, so that an `$id` never identifies two schemas.
 */
export function objectCloser(shared: readonly AnySchemaObject[], change: (schema: AnySchemaObject) => AnySchemaObject) {
  const sharedTexts = new Map(shared.map((schema) => [schema['$id'] as string, JSON.stringify(schema)]))
  return {
    closed: (schema: AnySchemaObject) => close(schema, 'whole'),
    openAtTop: (schema: AnySchemaObject) => (typeof schema === 'object' ? closeParts(schema, 'inside') : schema)
  }

  function close(schema: AnySchemaObject, where: 'whole' | 'inside'): AnySchemaObject {
    if (typeof schema !== 'object' || schema === null) return schema
    const { $id } = schema
    const isShared = typeof $id === 'string' && sharedTexts.get($id) === JSON.stringify(schema)
    return closeParts(isShared ? { $ref: $id } : schema, where)
  }

  function closeParts(schema: AnySchemaObject, where: 'whole' | 'inside'): AnySchemaObject {
    const copy: AnySchemaObject = { ...schema }
    for (const key of wholes) if (schema[key] !== undefined) copy[key] = closeAll(key, schema[key], 'whole')
    for (const key of insides) if (schema[key] !== undefined) copy[key] = closeAll(key, schema[key], 'inside')
    if (where === 'whole' && describesObject(schema) && !namesItself.some((key) => key in schema)) copy['unevaluatedProperties'] = false
    return change(copy)
  }

  function closeAll(key: string, schemas: AnySchemaObject, where: 'whole' | 'inside') {
    if (Array.isArray(schemas)) return schemas.map((schema) => close(schema, where))
    if (!maps.has(key)) return close(schemas, where)
    return Object.fromEntries(literalsFirst(schemas).map(([name, schema]) => [name, close(schema, where)]))
  }
}

// A branch of a union is left at its constant, before what costs more: in a union that contains itself, that would be exponential.
function literalsFirst(schemas: Readonly<Record<string, AnySchemaObject>>) {
  const { literals = [], others = [] } = Object.groupBy(Object.entries(schemas), ([, schema]) =>
    typeof schema === 'object' && ('const' in schema || 'enum' in schema) ? 'literals' : 'others'
  )
  return [...literals, ...others]
}

function describesObject(schema: AnySchemaObject): boolean {
  return 'properties' in schema || 'patternProperties' in schema || '$ref' in schema || branches.some((key) => key in schema)
}
