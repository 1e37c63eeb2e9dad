import type { Description, Message, Schema } from './description.ts'
import { type DescribedOperation, isJson } from './operations.ts'

/** How the types of a client have integers of 64 bits. */
export const int64Forms = ['text', 'bigint'] as const
export type Int64Form = (typeof int64Forms)[number]

type Int64Place = 1 | string | readonly Int64Place[] | { readonly [member: string]: Int64Place }
type Place = Int64Place | undefined

/** `Int64Places` of `@concordat/client/int64`. */
interface Int64Places {
  readonly sent: Readonly<Record<string, Int64Place>>
  readonly received: Readonly<Record<string, Int64Place>>
  readonly types: Readonly<Record<string, Int64Place>>
  readonly batches: readonly string[]
}

/** Returns where requests, responses and events have integers of 64 bits, or undefined where none has. */
export function int64PlacesOf(description: Description, operations: readonly DescribedOperation[]): Int64Places | undefined {
  const components = description.document.components?.schemas ?? {}
  const having = componentsWithInt64(description)
  const used = new Set<string>()

  function placeOf(schema: Schema | boolean | undefined, at: string): Place {
    if (typeof schema !== 'object' || isFixed(schema)) return undefined
    if (schema.$ref !== undefined) {
      const key = description.componentOf(schema.$ref)
      if (key === undefined) return placeOf(description.resolve(schema, at) as Schema, at)
      if (having.has(key)) used.add(key)
      return having.has(key) ? key : undefined
    }
    const lists = [...(schema.oneOf ?? []), ...(schema.anyOf ?? []), ...(schema.allOf ?? [])]
    return allOf([isInt64(schema) ? 1 : undefined, membersOf(schema, at), ...lists.map((one) => placeOf(one, at))])
  }

  function membersOf(schema: Schema, at: string): Place {
    const named = Object.entries(schema.properties ?? {}).map(([name, one]) => [name, placeOf(one, at)] as const)
    const indexed = (schema.prefixItems ?? []).map((one, index) => [String(index), placeOf(one, at)] as const)
    // The type of members without a name is unknown where others have one.
    const others = named.length > 0 ? [] : [schema.additionalProperties, ...Object.values(schema['patternProperties'] ?? {})]
    const rest = allOf([schema.items, ...others].map((one: Schema | boolean | undefined) => placeOf(one, at)))
    const places = [...named, ...indexed, ['*', rest] as const].filter(([, place]) => place !== undefined)
    return places.length === 0 ? undefined : (Object.fromEntries(places) as Int64Place)
  }

  const contentOf = (message: Message | undefined, at: string) =>
    Object.entries(message?.content ?? {}).flatMap(([type, { schema }]) => (isJson(type) ? [placeOf(schema, at)] : []))
  const responsesOf = ({ path, operation: { responses = {} } }: DescribedOperation) =>
    Object.entries(responses).flatMap(([status, response]) => (/^[2d]/.test(status) ? contentOf(response, path) : []))

  const sent: Record<string, Int64Place> = {}
  const received: Record<string, Int64Place> = {}
  const add = (table: Record<string, Int64Place>, key: string, places: readonly Place[]) => {
    const place = allOf([table[key], ...places])
    if (place !== undefined) table[key] = place
  }
  for (const one of operations) {
    // A job and its result are read by the path that has started it.
    const ofJob = Object.values((one.operation['x-job'] ?? {}) as Readonly<Record<string, unknown>>)
    const read = operations.filter(({ method, path }) => method === 'get' && ofJob.includes(path))
    add(sent, one.path, contentOf(one.operation.requestBody, one.path))
    add(received, one.path, [one, ...read].flatMap(responsesOf))
  }
  for (const [type, item] of Object.entries(description.document.webhooks ?? {})) {
    const { post } = description.resolve(item, type) as { post?: { requestBody?: Message } }
    add(received, type, contentOf(description.resolve(post?.requestBody, type) as Message | undefined, type))
  }
  if (Object.keys(sent).length + Object.keys(received).length === 0) return undefined
  const types: Record<string, Int64Place> = {}
  // What a component refers to is used too.
  for (const key of used) types[key] = placeOf(components[key], key) ?? {}
  return { sent, received, types, batches: operations.flatMap(({ isBatch, path }) => (isBatch ? [path] : [])) }
}

/** Returns whether a schema is an integer that a number cannot have exactly. One of some values has the type of these values. */
export function isInt64(schema: Schema): boolean {
  const { format, type, minimum, maximum, exclusiveMinimum = minimum, exclusiveMaximum = maximum } = schema
  // A service with these conventions has no integer above 2^53, and says so.
  const isExact = Number.isSafeInteger(exclusiveMinimum) && Number.isSafeInteger(exclusiveMaximum)
  return format === 'int64' && [type].flat().some((kind) => kind === 'integer' || kind === 'number') && !isFixed(schema) && !isExact
}

const isFixed = (schema: Schema) => schema.enum !== undefined || 'const' in schema

function allOf(given: readonly Place[]): Place {
  const places = [...new Set(given.filter((place) => place !== undefined))]
  return places.length > 1 ? places : places[0]
}

/** Returns the components that have an integer of 64 bits, also through references. */
function componentsWithInt64(description: Description): ReadonlySet<string> {
  const components = Object.entries(description.document.components?.schemas ?? {})
  const found = new Set<string>()
  const has = (part: unknown): boolean => {
    if (typeof part !== 'object' || part === null) return false
    const schema = part as Schema
    const key = description.componentOf(typeof schema.$ref === 'string' ? schema.$ref : undefined)
    if (key !== undefined) return found.has(key)
    return isInt64(schema) || Object.entries(schema).some(([keyword, value]) => !data.has(keyword) && has(value))
  }
  for (let before = -1; before < found.size; ) {
    before = found.size
    for (const [key, schema] of components) if (!found.has(key) && has(schema)) found.add(key)
  }
  return found
}

const data = new Set(['example', 'examples', 'default', 'enum', 'const'])
