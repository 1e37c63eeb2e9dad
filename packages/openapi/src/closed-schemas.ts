import { isObject, type JsonSchema } from '@concordat/json-schema'
import { mapSubschemas } from './schema-parts.ts'

const unions = ['allOf', 'anyOf', 'oneOf'] as const

/** Creates a function that returns a closed copy of a schema, which rejects objects with undescribed properties. */
export function schemaCloser(components: Readonly<Record<string, JsonSchema>>, base: string): (schema: JsonSchema) => JsonSchema {
  const prefix = '#/components/schemas/'

  function closed(schema: JsonSchema): JsonSchema {
    const reference = schema['$ref']
    if (typeof reference === 'string') return { ...schema, $ref: base + reference }
    const isOpen = !isObject(schema['properties']) && !unions.some((key) => Array.isArray(schema[key]))
    const inner = open(schema)
    return isOpen || schema['additionalProperties'] !== undefined ? inner : { ...inner, unevaluatedProperties: false }
  }

  // The branches of a union stay open, because only together do they describe the object.
  function open(schema: JsonSchema): JsonSchema {
    const branches = unions.flatMap((key) => (Array.isArray(schema[key]) ? [[key, schema[key].map(branch)] as const] : []))
    return { ...mapSubschemas(schema, closed), ...Object.fromEntries(branches) }
  }

  function branch(schema: JsonSchema): JsonSchema {
    const reference = schema['$ref']
    const target = typeof reference === 'string' ? components[reference.slice(prefix.length)] : undefined
    return open(target ?? schema)
  }

  return closed
}
