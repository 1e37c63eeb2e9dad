import { isObject, type JsonSchema, secretKeyword, splitReference, valueAt } from '@concordat/json-schema'

/** The schema of a route, and the shared schemas that it may refer to, by `$id`. */
export interface SchemaSource {
  readonly schema: unknown
  readonly shared: Readonly<Record<string, unknown>>
}

// Secrets, and the personal data for which JSON Schema has a format (rule S12).
const hiddenFormats = new Set<unknown>(['password', 'email', 'idn-email'])
const alternatives = ['allOf', 'anyOf', 'oneOf', 'prefixItems']
const contents = ['items', 'additionalProperties', 'contains']

/**
 * Returns the names of all properties that a schema excludes from the log: by `writeOnly` (JSON Schema §9.4, OpenAPI), by `x-secret`, or by
 * the format `password`, `email` or `idn-email`. The mark can be on the property, on the items of its list or map, or on the schema it refers to.
 */
export function hiddenFieldsOf(sources: readonly SchemaSource[]): Set<string> {
  const names = new Set<string>()
  const sharedSeen = new Set<unknown>()
  for (const { schema, shared } of sources) {
    const seen = new Set<unknown>()
    const visit = (node: unknown, root: unknown) => {
      if (typeof node !== 'object' || node === null || seen.has(node)) return
      seen.add(node)
      const { properties } = node as JsonSchema
      for (const [name, property] of Object.entries(isObject(properties) ? properties : {})) {
        if (isHidden(property, { root, shared }, new Set())) names.add(name)
      }
      for (const child of Object.values(node)) visit(child, root)
    }
    // Each part of a route, and each shared schema, is the root of its own local references.
    if (!sharedSeen.has(shared)) for (const root of Object.values(shared)) visit(root, root)
    sharedSeen.add(shared)
    for (const root of Object.values(isObject(schema) ? schema : {})) visit(root, root)
  }
  return names
}

interface Place {
  readonly root: unknown
  readonly shared: Readonly<Record<string, unknown>>
}

// `visited` has the schemas that were examined for the same property, because schemas can refer to themselves.
function isHidden(schema: unknown, place: Place, visited: Set<unknown>): boolean {
  if (!isObject(schema) || visited.has(schema)) return false
  visited.add(schema)
  if (schema['writeOnly'] === true || schema[secretKeyword] === true || hiddenFormats.has(schema['format'])) return true
  const parts = [...alternatives.flatMap((keyword) => schema[keyword] ?? []), ...contents.map((keyword) => schema[keyword])]
  const map = schema['patternProperties']
  if (isObject(map)) parts.push(...Object.values(map))
  const { $ref } = schema
  if (typeof $ref === 'string') {
    const target = lookUp($ref, place)
    if (isHidden(target.schema, { ...place, root: target.root }, visited)) return true
  }
  return parts.some((part) => isHidden(part, place, visited))
}

// Reads `#/definitions/name`, `id#` and `id#/definitions/name`, like Fastify.
function lookUp(reference: string, { root, shared }: Place) {
  const { id, pointer } = splitReference(reference)
  const start = id === '' ? root : shared[id]
  return { schema: valueAt(start, pointer), root: start }
}
