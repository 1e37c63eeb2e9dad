import { type JsonSchema, targetWithin } from '@concordat/plugin-kit/json-schema'

/** The fields of a resource. */
export interface ItemMembers {
  readonly schemas: ReadonlyMap<string, JsonSchema>
  readonly required: ReadonlySet<string>
}

/** Returns the schema for a reference, or undefined if the reference is unknown. */
export type Dereference = (reference: string) => JsonSchema | undefined

/** Returns a function that follows the references of a schema which lead into the schema itself. */
export function dereferenceWithin(schema: JsonSchema): Dereference {
  return (reference) => targetWithin(schema, reference) as JsonSchema | undefined
}

/** Returns the fields of a schema, including those in `allOf` and unions. A field that a branch of a union does not have is not required. */
export function membersOf(item: JsonSchema, dereference: Dereference): ItemMembers {
  const reference = item['$ref']
  if (typeof reference === 'string') {
    const target = dereference(reference)
    return target === undefined ? { schemas: new Map(), required: new Set() } : membersOf(target, dereference)
  }
  const own = membersOfObject(item)
  const all = schemasUnder(item, 'allOf').map((part) => membersOf(part, dereference))
  const branches = [...schemasUnder(item, 'anyOf'), ...schemasUnder(item, 'oneOf')].map((part) => membersOf(part, dereference))
  const always = [own, ...all]
  const required = new Set(always.flatMap((part) => [...part.required]))
  for (const name of branches[0]?.required ?? []) if (branches.every((branch) => branch.required.has(name))) required.add(name)
  return { schemas: merge([...always, ...branches]), required }
}

function membersOfObject({ properties, required }: JsonSchema): ItemMembers {
  return {
    schemas: new Map(Object.entries((properties ?? {}) as Record<string, JsonSchema>)),
    required: new Set(Array.isArray(required) ? (required as string[]) : [])
  }
}

function merge(parts: readonly ItemMembers[]) {
  const found = new Map<string, JsonSchema[]>()
  for (const { schemas } of parts) for (const [name, schema] of schemas) found.set(name, [...(found.get(name) ?? []), schema])
  return new Map([...found].map(([name, schemas]) => [name, schemas.length === 1 ? (schemas[0] as JsonSchema) : { anyOf: schemas }]))
}

/** Returns the schemas under a keyword such as `anyOf`. */
export function schemasUnder(schema: JsonSchema, keyword: string): readonly JsonSchema[] {
  const parts = schema[keyword]
  return Array.isArray(parts) ? (parts as JsonSchema[]) : []
}
