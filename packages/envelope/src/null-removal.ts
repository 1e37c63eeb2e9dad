import { isObject, type JsonSchema, splitReference, valueAt } from '@concordat/plugin-kit/json-schema'
import { type NumberKind, numberKindOf, requireExact, requireFinite, requireText, type TextKind, textKindOf } from './exact-number.ts'

/** Returns a schema that was added to the instance, by its `$id`. */
export type SchemaLookup = (id: string) => JsonSchema | undefined

interface Position {
  readonly allowsNull: boolean
  readonly members: ReadonlyMap<string, () => Position>
  readonly items: (() => Position) | undefined
  /** The numbers at this position, if it allows nothing else. */
  readonly number: NumberKind | undefined
  /** The texts at this position, if it allows nothing else. */
  readonly text: TextKind | undefined
  /** Whether the schema allows members or values that it does not describe. */
  readonly open: boolean
  /** Whether this position has no members or items from which nulls must be removed. */
  readonly leaf: boolean
}

const branches = ['allOf', 'anyOf', 'oneOf'] as const

/**
 * Returns a function that copies a value without the `null` members that the schema does not allow (rule F3), for which the compiled serializer would
 * write `""` or `0`. It throws a `TypeError` for a null item of a list, and for a number that would leave with other digits, or as null.
 */
export function nullRemoval(schema: JsonSchema, lookup: SchemaLookup): (value: unknown) => unknown {
  const known = new Map<JsonSchema, Position>()
  const root = positionOf(schema, schema, lookup, known)
  return (value) => withoutNulls(value, root, 'the response')
}

function withoutNulls(value: unknown, position: Position, place: string): unknown {
  if (position.text !== undefined) requireText(value, position.text, place)
  if (typeof value !== 'object' || value === null) {
    requireExact(value, position.number, place)
    return value
  }
  if (position.leaf) {
    if (position.open) requireFinite(value, place)
    return value
  }
  return Array.isArray(value) ? itemsWithoutNulls(value, position) : membersWithoutNulls(value as Record<string, unknown>, position)
}

function itemsWithoutNulls(values: readonly unknown[], { items }: Position): unknown {
  if (items === undefined) return values
  const position = items()
  let copy: unknown[] | undefined
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index]
    if (value === null && !position.allowsNull)
      throw new TypeError(
        'envelope: a list in the response has a null item, which its schema does not allow. Remove the item, or allow null in the schema.'
      )
    const cleaned = withoutNulls(value, position, 'a list item in the response')
    if (cleaned !== value) {
      copy ??= [...values]
      copy[index] = cleaned
    }
  }
  return copy ?? values
}

function membersWithoutNulls(value: Record<string, unknown>, { members, open }: Position): unknown {
  let copy: Record<string, unknown> | undefined
  if (open) for (const [name, member] of Object.entries(value)) if (!members.has(name)) requireFinite(member, memberPlace(name, value))
  for (const [name, position] of members) {
    const member = value[name]
    if (member === undefined || (member === null && position().allowsNull)) continue
    const cleaned = member === null ? undefined : withoutNulls(member, position(), memberPlace(name, value))
    if (cleaned === member) continue
    copy ??= { ...value }
    if (member === null) delete copy[name]
    else copy[name] = cleaned
  }
  return copy ?? value
}

function memberPlace(name: string, { id }: Readonly<Record<string, unknown>>) {
  return `the member "${name}" of the response${typeof id === 'string' || typeof id === 'number' ? ` with id "${id}"` : ''}`
}

function positionOf(schema: JsonSchema, document: JsonSchema, lookup: SchemaLookup, known: Map<JsonSchema, Position>): Position {
  const found = known.get(schema)
  if (found) return found
  const members = new Map<string, () => Position>()
  const position = {
    allowsNull: false,
    members,
    items: undefined as (() => Position) | undefined,
    number: numberKindOf(schema),
    text: textKindOf(schema),
    open: isOpen(schema),
    leaf: true
  }
  known.set(schema, position)
  if (typeof schema['$ref'] === 'string') {
    const [target, itsDocument] = resolve(schema['$ref'], document, lookup)
    Object.assign(position, target === undefined ? { allowsNull: true } : positionOf(target, itsDocument, lookup, known))
    return position
  }
  const parts = branches.flatMap((key) => (Array.isArray(schema[key]) ? (schema[key] as JsonSchema[]) : []))
  const positions = parts.map((part) => positionOf(part, document, lookup, known))
  position.allowsNull = allowsNull(schema, parts.length > 0) || positions.some((part) => part.allowsNull)
  const [only, ...others] = positions.filter((_, index) => parts[index]?.['type'] !== 'null')
  if (others.length === 0) {
    position.number ??= only?.number
    position.text ??= only?.text
  }
  for (const part of positions) {
    position.open ||= part.open
    for (const [name, member] of part.members)
      members.set(name, members.has(name) ? either(members.get(name) as () => Position, member) : member)
    position.items ??= part.items
  }
  for (const [name, member] of Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>)) {
    const position = later(() => positionOf(member, document, lookup, known))
    members.set(name, position)
  }
  const { items } = schema
  if (typeof items === 'object' && items !== null && !Array.isArray(items))
    position.items = later(() => positionOf(items as JsonSchema, document, lookup, known))
  position.leaf = members.size === 0 && position.items === undefined
  return position
}

// Schemas may contain themselves, so nested schemas are read only when a value reaches them.
function later(make: () => Position): () => Position {
  let made: Position | undefined
  return () => (made ??= make())
}

function either(one: () => Position, other: () => Position): () => Position {
  return later(() => {
    const [a, b] = [one(), other()]
    return {
      allowsNull: a.allowsNull || b.allowsNull,
      members: new Map([...a.members, ...b.members]),
      items: a.items ?? b.items,
      number: a.number === b.number ? a.number : undefined,
      text: a.text === b.text ? a.text : undefined,
      open: a.open || b.open,
      leaf: a.leaf && b.leaf
    }
  })
}

function isOpen({ type, additionalProperties, patternProperties, ...rest }: JsonSchema): boolean {
  const isDescribed = type !== undefined || ['$ref', 'const', 'enum', 'properties', 'items', ...branches].some((key) => key in rest)
  return !isDescribed || additionalProperties === true || isObject(additionalProperties) || patternProperties !== undefined
}

function allowsNull(schema: JsonSchema, hasBranches: boolean): boolean {
  const { type } = schema
  if (schema['nullable'] === true || schema['const'] === null) return true
  if (Array.isArray(schema['enum']) && schema['enum'].includes(null)) return true
  if (type === undefined) return !hasBranches && !('const' in schema) && !('enum' in schema) && !('properties' in schema)
  return type === 'null' || (Array.isArray(type) && type.includes('null'))
}

function resolve(reference: string, document: JsonSchema, lookup: SchemaLookup): [JsonSchema | undefined, JsonSchema] {
  const { id, pointer } = splitReference(reference)
  const start = id === '' || id === document['$id'] ? document : lookup(id)
  if (start === undefined) return [undefined, document]
  return [valueAt(start, pointer) as JsonSchema | undefined, start]
}
