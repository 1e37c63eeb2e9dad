import { type JsonSchema, splitReference, targetWithin, valueAt } from '@concordat/plugin-kit/json-schema'
import { type Dereference, type ItemMembers, membersOf, schemasUnder } from './item-members.ts'

/** The response schemas of a collection route, with only the identifier required, and the schema of a whole item. */
export interface ListResponse {
  readonly response: Readonly<Record<string, unknown>>
  readonly item: JsonSchema
  /** The schema of an item with only some of its fields. */
  readonly projected: JsonSchema
  /** The schema to which the local references of both refer. */
  readonly document: JsonSchema
  readonly members: ItemMembers
  /** Whether the route declares one list only, whatever the status and the media type. */
  readonly isOnly: boolean
}

const success = /^2(?:00|xx)$/i

/** Returns whether a route declares a successful response that is or can be an array. */
export function respondsWithList(response: unknown, dereference: Dereference): boolean {
  return Object.entries((response ?? {}) as Record<string, JsonSchema>).some(
    ([status, schema]) => status.startsWith('2') && jsonSchemasOf(schema).some((one) => mayBeArray(one, dereference, new Set()))
  )
}

function mayBeArray(schema: JsonSchema, dereference: Dereference, seen: Set<JsonSchema>): boolean {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return false
  seen.add(schema)
  const { type, $ref: reference } = schema
  if (type === 'array' || (Array.isArray(type) && type.includes('array'))) return true
  const target = typeof reference === 'string' ? dereference(reference) : undefined
  const parts = [
    ...(target === undefined ? [] : [target]),
    ...['anyOf', 'oneOf', 'allOf'].flatMap((keyword) => schemasUnder(schema, keyword))
  ]
  return parts.some((part) => mayBeArray(part, dereference, seen))
}

/** Returns the schemas of the JSON bodies in the response for a status code, which has one schema, or one for each media type. */
export function jsonSchemasOf(schema: JsonSchema): readonly JsonSchema[] {
  const content = schema?.['content'] as Record<string, { schema: JsonSchema }> | undefined
  if (content === undefined || 'type' in schema) return [schema]
  return Object.entries(content).flatMap(([type, entry]) => (isJson(type) ? [entry.schema] : []))
}

/** Returns whether a media type is JSON. */
export function isJson(type: string): boolean {
  return /[/+]json\b/.test(type)
}

// Without its discriminating fields, a union of items cannot be resolved, so the copy has the fields of all branches.
/** Returns the schema of an item of which only the identifier is certain. */
export function projectedItem(item: JsonSchema, { schemas }: ItemMembers, id: string): JsonSchema {
  const { $ref: _reference, allOf: _all, anyOf: _any, oneOf: _one, required: _required, ...rest } = item
  return { ...rest, type: 'object', properties: Object.fromEntries(schemas), required: [id] }
}

// Otherwise the compiled serializer would reject rows without the fields that a client did not request. Schemas are copied, never changed.
/** Returns the response schemas with only the identifier of an item required, or undefined if the response is not an array. */
export function listResponse(
  response: unknown,
  id: string,
  dereference: Dereference,
  addSchema: (schema: JsonSchema) => JsonSchema
): ListResponse | undefined {
  const declared = Object.entries((response ?? {}) as Record<string, JsonSchema>)
  let found: Omit<ListResponse, 'response' | 'isOnly'> | undefined
  let lists = 0
  const relaxed = declared.map(([status, schema]) => [status, success.test(status) ? relaxStatus(schema) : schema] as const)
  return found && Object.assign({ response: Object.fromEntries(relaxed), isOnly: lists === 1 }, found)

  function relaxStatus(schema: JsonSchema): JsonSchema {
    const content = schema['content'] as Record<string, { schema: JsonSchema }> | undefined
    if (content === undefined || 'type' in schema) return relaxArray(schema, schema)
    const types = Object.entries(content).map(([type, entry]) => [
      type,
      isJson(type) ? { ...entry, schema: relaxArray(entry.schema, entry.schema) } : entry
    ])
    return { ...schema, content: Object.fromEntries(types) }
  }

  function relaxArray(schema: JsonSchema, document: JsonSchema): JsonSchema {
    const reference = schema['$ref']
    if (typeof reference === 'string') {
      return relaxTarget(reference, document, (target, itsDocument) => relaxArray(target, itsDocument))
    }
    const { items } = schema
    if (schema['type'] !== 'array' || typeof items !== 'object' || items === null) return schema
    return { ...schema, items: relaxItem(items as JsonSchema, document) }
  }

  function relaxItem(schema: JsonSchema, document: JsonSchema): JsonSchema {
    const { $ref: reference, ...beside } = schema
    // Beside it can be the definitions to which the target refers, as in a module of TypeBox.
    if (typeof reference === 'string') return { ...beside, ...withoutId(relaxTarget(reference, document, relaxItem)) }
    const members = membersOf(schema, (name) => resolve(name, document)?.[0])
    if (members.schemas.size === 0) return schema
    const projected = projectedItem(schema, members, id)
    lists += 1
    found ??= { item: schema, projected, document, members }
    return projected
  }

  // The target of a reference within the document stays within it. Another document is added again under a new id, so that
  // references within that document still find their targets.
  function relaxTarget(
    reference: string,
    document: JsonSchema,
    relax: (schema: JsonSchema, document: JsonSchema) => JsonSchema
  ): JsonSchema {
    const found = resolve(reference, document)
    if (found === undefined) return { $ref: reference }
    const [target, itsDocument] = found
    const copy = relax(target, itsDocument)
    if (itsDocument === document) return copy
    if (target === itsDocument) return addSchema(copy)
    return addSchema({ ...itsDocument, ...withoutId(copy) })
  }

  function resolve(reference: string, document: JsonSchema): readonly [JsonSchema, JsonSchema] | undefined {
    const own = targetWithin(document, reference) as JsonSchema | undefined
    if (own !== undefined) return [own, document]
    const { id: name, pointer } = splitReference(reference)
    const shared = name === '' ? undefined : dereference(name)
    const target = shared && (valueAt(shared, pointer) as JsonSchema | undefined)
    return target === undefined || shared === undefined ? undefined : [target, shared]
  }
}

function withoutId({ $id: _id, ...schema }: JsonSchema): JsonSchema {
  return schema
}
