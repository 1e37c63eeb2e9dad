import type { JsonSchema } from '@concordat/json-schema'

const text = { type: 'string' }

// Every member is required: fast-json-stringify writes required members first, and the timestamp must be last in the body.
const link = {
  type: 'object',
  required: ['rel', 'href', 'method'],
  properties: { rel: text, href: text, method: text }
}

/** Returns the schema of the envelope around a resource (rules E1, E2, K1), with the schemas of further members of `_meta`. */
export function envelopeSchema(data: JsonSchema, furtherMeta: Readonly<Record<string, JsonSchema>> = {}): JsonSchema {
  const meta = { version: text, ...furtherMeta, timestamp: text }
  return {
    type: 'object',
    required: ['data', '_links', '_meta'],
    properties: {
      data,
      _links: { type: 'array', items: link },
      _meta: { type: 'object', required: Object.keys(meta), properties: meta }
    }
  }
}

/** Returns whether a schema refers to itself. Such a schema cannot be nested in another and must be added with its own id. */
export function refersToItself(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(refersToItself)
  if (typeof schema !== 'object' || schema === null) return false
  return Object.entries(schema).some(
    ([key, value]) => (key === '$ref' && typeof value === 'string' && value.startsWith('#')) || refersToItself(value)
  )
}
