import { isObject, type JsonSchema } from './json-schema.ts'

const largest = Number.MAX_SAFE_INTEGER

// For a date and a time, more digits than any database stores. A UUID can have the prefix `urn:uuid:` of RFC 9562.
const lengths: Readonly<Record<string, number>> = {
  uuid: 45,
  date: 10,
  time: 64,
  'date-time': 64,
  duration: 64,
  email: 254,
  hostname: 253,
  ipv4: 15,
  ipv6: 45
}

/**
 * Returns a copy of a schema with the bounds that requests have where it sets none: integers are between -(2^53 - 1) and 2^53 - 1, and a text in a
 * format of limited length has a maximum length. Subschemas are unchanged.
 */
export function withValueBounds<Schema extends JsonSchema>(schema: Schema): Schema {
  if (!isObject(schema)) return schema
  const types = [schema['type']].flat()
  if (types.includes('integer') && !types.includes('number')) return { ...integerBounds(schema), ...schema }
  const length = types.includes('string') && typeof schema['format'] === 'string' ? lengths[schema['format']] : undefined
  return length === undefined || isBounded(schema) ? schema : { ...schema, maxLength: length }
}

function integerBounds(schema: JsonSchema): JsonSchema {
  if ('const' in schema || 'enum' in schema) return {}
  return {
    ...(schema['exclusiveMinimum'] === undefined && { minimum: -largest }),
    ...(schema['exclusiveMaximum'] === undefined && { maximum: largest })
  }
}

function isBounded(schema: JsonSchema) {
  return ['maxLength', 'const', 'enum'].some((key) => key in schema)
}
