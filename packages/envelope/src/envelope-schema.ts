import { isObject, type JsonSchema } from '@concordat/json-schema'

const text = { type: 'string' }

// Every member is required: fast-json-stringify writes required members first, and the timestamp must be last in the body.
const link = {
  type: 'object',
  required: ['rel', 'href', 'method'],
  properties: { rel: text, href: text, method: text }
}

/** Returns the schema of the envelope around a resource (rules E1, E2, K1). */
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

/** Returns the schema of a resource as a part of the envelope: references to itself, such as `#/definitions/Node`, lead to its place there. */
export function schemaInEnvelope(schema: JsonSchema): JsonSchema {
  return /"\$ref":"#["/]/.test(JSON.stringify(schema)) ? (moved(schema) as JsonSchema) : schema
}

function moved(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(moved)
  if (!isObject(node)) return node
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      key === '$ref' && typeof value === 'string' && /^#(?:\/|$)/.test(value) ? `#/properties/data${value.slice(1)}` : moved(value)
    ])
  )
}
