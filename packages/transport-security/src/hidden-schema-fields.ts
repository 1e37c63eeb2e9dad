/** A schema that a route has, and the shared ones that it may refer to, by their `$id`. */
export interface SchemaSource {
  readonly schema: unknown
  readonly shared: Readonly<Record<string, unknown>>
}

type Schema = Readonly<Record<string, unknown>>

// Secrets, and the personal data that JSON Schema has a name for (rule S12).
const hiddenFormats = new Set<unknown>(['password', 'email', 'idn-email'])
const alternatives = ['allOf', 'anyOf', 'oneOf', 'prefixItems']
const contents = ['items', 'additionalProperties', 'contains']
// Deeper than any reference to a reference that somebody reads.
const maxReferences = 10

/**
 * The names of all properties that a schema marks as not for a log: `writeOnly` (JSON Schema §9.4, OpenAPI), or the format
 * `password`, `email` or `idn-email`; the property itself, what its list or map holds, or what it refers to.
 */
export function hiddenFieldsOf(sources: readonly SchemaSource[]): Set<string> {
  const names = new Set<string>()
  const sharedSeen = new Set<unknown>()
  for (const { schema, shared } of sources) {
    const seen = new Set<unknown>()
    const visit = (node: unknown, root: unknown) => {
      if (typeof node !== 'object' || node === null || seen.has(node)) return
      seen.add(node)
      const { properties } = node as Schema
      for (const [name, property] of Object.entries(isSchema(properties) ? properties : {})) {
        if (isHidden(property, { root, shared }, maxReferences)) names.add(name)
      }
      for (const child of Object.values(node)) visit(child, root)
    }
    // Each part of a route, and each shared schema, is the root of its own local references.
    if (!sharedSeen.has(shared)) for (const root of Object.values(shared)) visit(root, root)
    sharedSeen.add(shared)
    for (const root of Object.values(isSchema(schema) ? schema : {})) visit(root, root)
  }
  return names
}

interface Place {
  readonly root: unknown
  readonly shared: Readonly<Record<string, unknown>>
}

function isHidden(schema: unknown, place: Place, references: number): boolean {
  if (!isSchema(schema)) return false
  if (schema['writeOnly'] === true || hiddenFormats.has(schema['format'])) return true
  if (references === 0) return false
  const parts = [...alternatives.flatMap((keyword) => schema[keyword] ?? []), ...contents.map((keyword) => schema[keyword])]
  const map = schema['patternProperties']
  if (isSchema(map)) parts.push(...Object.values(map))
  const { $ref } = schema
  if (typeof $ref === 'string') {
    const target = lookUp($ref, place)
    if (isHidden(target.schema, { ...place, root: target.root }, references - 1)) return true
  }
  return parts.some((part) => isHidden(part, place, references - 1))
}

// `#/definitions/name`, `id#`, `id#/definitions/name`, as Fastify reads them.
function lookUp(reference: string, { root, shared }: Place) {
  const [id = '', pointer = ''] = reference.split('#')
  const start = id === '' ? root : shared[id]
  let schema: unknown = start
  for (const step of pointer.split('/').slice(1)) {
    schema = isSchema(schema) ? schema[step.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined
  }
  return { schema, root: start }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
