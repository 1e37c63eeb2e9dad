import type { JsonSchema } from '@concordat/json-schema'
import { follow, type OpenapiDocument } from './document.ts'
import { propertiesOf, requiredOf, schemasUnder, typesOf } from './schema-parts.ts'

/**
 * Returns a schema in which references and `allOf` are resolved, and unions with null are written as a list of types. `origin` identifies
 * schemas that were compared already.
 */
export function plainSchema(
  schema: JsonSchema,
  document: OpenapiDocument,
  containers: readonly JsonSchema[] = []
): { readonly schema: JsonSchema; readonly origin: JsonSchema } | undefined {
  const target = follow<JsonSchema>(document, schema)
  // A schema that contains itself adds nothing to itself.
  if (target === undefined || containers.includes(target)) return undefined
  const inside = [...containers, target]
  let joined: JsonSchema = target
  if (Array.isArray(target['allOf'])) {
    const { allOf, ...rest }: JsonSchema = target
    const parts = (allOf as readonly JsonSchema[]).flatMap<JsonSchema>((part) => plainSchema(part, document, inside)?.schema ?? [])
    joined = [...parts, rest].reduce<JsonSchema>(join, {})
  }
  return { schema: withNullAsType(joined, document, inside), origin: target }
}

function join(one: JsonSchema, other: JsonSchema): JsonSchema {
  const properties: Record<string, JsonSchema> = { ...propertiesOf(one) }
  for (const [name, schema] of Object.entries(propertiesOf(other))) {
    const known = properties[name]
    properties[name] = known === undefined ? schema : merged(known, schema)
  }
  return { ...one, ...other, properties, required: [...new Set([...requiredOf(one), ...requiredOf(other)])] }
}

interface Merged {
  schema?: JsonSchema
  readonly further: WeakMap<JsonSchema, Merged>
}

const nothingMerged: Merged = { further: new WeakMap() }
const mergedParts = new WeakMap<JsonSchema, readonly JsonSchema[]>()

// The schema of a property that several parts of allOf declare. The same parts give the same object: a recursive schema has finitely many of
// them, so its comparison ends.
function merged(one: JsonSchema, other: JsonSchema): JsonSchema {
  const parts = [...new Set([one, other].flatMap((schema) => mergedParts.get(schema) ?? [schema]))]
  let found = nothingMerged
  for (const part of parts) {
    const next = found.further.get(part) ?? { further: new WeakMap() }
    found.further.set(part, next)
    found = next
  }
  found.schema ??= { allOf: parts }
  mergedParts.set(found.schema, parts)
  return found.schema
}

// `anyOf: [x, null]` is equivalent to `type: [x, 'null']`.
function withNullAsType(schema: JsonSchema, document: OpenapiDocument, containers: readonly JsonSchema[]): JsonSchema {
  for (const key of ['anyOf', 'oneOf']) {
    const branches = schemasUnder(schema, [key])
    const others = branches.filter((branch) => branch['type'] !== 'null')
    if (others.length !== 1 || branches.length !== 2) continue
    const only = plainSchema(others[0] as JsonSchema, document, containers)?.schema
    const types = only === undefined ? [] : typesOf(only)
    if (only === undefined || types.length === 0) continue
    const { [key]: _branches, ...rest } = schema
    return { ...rest, ...only, type: [...types, 'null'], ...(Array.isArray(only['enum']) && { enum: [...only['enum'], null] }) }
  }
  return schema
}
