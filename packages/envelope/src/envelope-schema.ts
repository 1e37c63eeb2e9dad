/** A JSON Schema, as far as this package looks into it. */
export type JsonSchema = Readonly<Record<string, unknown>>

const text = { type: 'string' }

// Every member is required: fast-json-stringify writes required members first, and the timestamp has to be the last bytes.
const link = {
  type: 'object',
  required: ['rel', 'href', 'method'],
  properties: { rel: text, href: text, method: text }
}

/** The schema of the envelope around a resource (rules E1, E2, K1), with the schemas of further members of `_meta`. */
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

/** Tells whether a schema points into itself; such a one can not stand inside another and must be added by its own id. */
export function refersToItself(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(refersToItself)
  if (typeof schema !== 'object' || schema === null) return false
  return Object.entries(schema).some(
    ([key, value]) => (key === '$ref' && typeof value === 'string' && value.startsWith('#')) || refersToItself(value)
  )
}
