import type { AnySchemaObject } from 'ajv/dist/2019.js'

/**
 * Returns a copy of a schema for headers with the names in lower case, as Node.js provides them. Fastify does the same, but only for its
 * own validator.
 */
export function withLowerCaseNames(schema: AnySchemaObject): AnySchemaObject {
  if (typeof schema !== 'object' || schema === null) return schema
  const copy: AnySchemaObject = { ...schema }
  if (Array.isArray(schema['required'])) copy['required'] = schema['required'].map((name: string) => name.toLowerCase())
  if (schema['properties'] !== undefined) {
    copy['properties'] = Object.fromEntries(Object.entries(schema['properties']).map(([name, value]) => [name.toLowerCase(), value]))
  }
  for (const key of ['allOf', 'anyOf', 'oneOf']) if (Array.isArray(schema[key])) copy[key] = schema[key].map(withLowerCaseNames)
  return copy
}
