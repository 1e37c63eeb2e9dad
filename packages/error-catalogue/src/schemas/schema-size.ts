import { isObject, type JsonSchema, splitReference, targetWithin, valueAt, withValueBounds } from '@concordat/plugin-kit/json-schema'

/** How large the JSON text of a value can be that a schema accepts. */
export interface Size {
  /** The members of all objects and arrays in it. */
  readonly members: number
  /** The bytes with the longest escapes, and with a usual indent; `Infinity` without a limit. */
  readonly bytes: number
  /** Whether the schema does not limit the members of some part, so that `members` is only an estimate. */
  readonly isOpen: boolean
}

// What a schema says of values of each type. Where it says nothing, such a value has no limit.
interface Sizes {
  readonly types: readonly unknown[]
  readonly string?: Size | undefined
  readonly array?: Size | undefined
  readonly object?: Size | undefined
}
type Container = 'string' | 'array' | 'object'

/** A part of a value that its schema does not describe, such as the body of an operation in a batch. */
const unlimited: Size = { members: 50, bytes: Number.POSITIVE_INFINITY, isOpen: true }
const nothing: Size = { members: 0, bytes: 0, isOpen: false }
// A number can have more digits than it needs.
const scalar: Size = { members: 0, bytes: 64, isOpen: false }
const longText: Size = { members: 0, bytes: Number.POSITIVE_INFINITY, isOpen: false }
const allTypes: readonly unknown[] = ['string', 'number', 'integer', 'boolean', 'null', 'array', 'object']
const containers = ['string', 'array', 'object'] as const
// A character beyond U+FFFF can be two escapes of six bytes.
const bytesPerCharacter = 12
const bytesPerUnit = 6
// Punctuation, a line break and an indent.
const bytesPerMember = 64

/**
 * Returns the size of the largest value that a schema accepts. Objects with `properties` accept no others, as the validators of this package do. A
 * schema that contains itself, and a reference to a schema that is not among `shared`, have no limit.
 */
export function sizeOf(schema: unknown, shared: Readonly<Record<string, unknown>>): Size {
  const known = new Map<JsonSchema, Sizes>()
  return total(schema, isObject(schema) ? schema : {})

  function total(part: unknown, document: JsonSchema): Size {
    if (part === false) return nothing
    if (!isObject(part)) return unlimited
    const sizes = sizesOf(part, document)
    return largest(sizes.types.map((type) => sizeOfType(sizes, type)))
  }

  function sizesOf(part: unknown, document: JsonSchema): Sizes {
    if (!isObject(part)) return { types: allTypes }
    const before = known.get(part)
    if (before !== undefined) return before
    // Until it is known: for a schema that contains itself.
    known.set(part, { types: allTypes })
    const sizes = combined(part, document)
    known.set(part, sizes)
    return sizes
  }

  function combined(part: JsonSchema, document: JsonSchema): Sizes {
    const own = 'const' in part || 'enum' in part ? sizesOfConstants(part) : ownSizes(part, document)
    const all = listOf(part['allOf']).map((branch) => sizesOf(branch, document))
    const choices = [part['anyOf'], part['oneOf']].flatMap((branches) =>
      Array.isArray(branches) ? [either(branches.map((branch) => sizesOf(branch, document)))] : []
    )
    // They apply to some values only, and can add properties.
    const conditional = [part['then'], part['else'], ...Object.values(part['dependentSchemas'] ?? {})]
    const added = conditional.map((branch): Sizes => ({ types: allTypes, object: sizesOf(branch, document).object }))
    return [...referred(part, document), ...all, ...choices, ...added].reduce(both, own)
  }

  function referred({ $ref }: JsonSchema, document: JsonSchema): Sizes[] {
    if (typeof $ref !== 'string') return []
    const { id, pointer } = splitReference($ref)
    const within = targetWithin(document, $ref)
    if (within !== undefined) return [sizesOf(within, document)]
    return [sizesOf(valueAt(shared[id], pointer), isObject(shared[id]) ? shared[id] : document)]
  }

  function ownSizes(part: JsonSchema, document: JsonSchema): Sizes {
    const { maxLength } = withValueBounds(part)
    const types = 'type' in part ? [part['type']].flat() : allTypes
    const string = typeof maxLength === 'number' ? { ...nothing, bytes: maxLength * bytesPerCharacter } : undefined
    return { types, string, array: arraySize(part, document), object: objectSize(part, document) }
  }

  function arraySize({ items, prefixItems, additionalItems, maxItems }: JsonSchema, document: JsonSchema): Size | undefined {
    const first = listOf(prefixItems ?? (Array.isArray(items) ? items : []))
    const rest = Array.isArray(items) ? additionalItems : items
    const length = typeof maxItems === 'number' ? maxItems : rest === false ? first.length : undefined
    if (length === undefined) return undefined
    const others = Math.max(0, length - first.length)
    return sum([...first.map((item) => asMember(total(item, document))), times(others, asMember(total(rest, document)))])
  }

  function objectSize(part: JsonSchema, document: JsonSchema): Size | undefined {
    const { properties, patternProperties, additionalProperties, unevaluatedProperties, maxProperties } = part
    const named = Object.entries(properties ?? {}).map(([name, member]) => asMember(total(member, document), name))
    const isClosed = (additionalProperties ?? unevaluatedProperties ?? !isObject(properties)) === false
    const patterns = Object.values(patternProperties ?? {})
    if (isClosed && patterns.length === 0) return sum(named)
    if (typeof maxProperties !== 'number') return properties === undefined ? undefined : sum([...named, unlimited])
    const others = [...patterns, isClosed ? false : (additionalProperties ?? unevaluatedProperties)]
    const other = largest(others.map((member) => total(member, document)))
    return sum([...named, times(Math.max(0, maxProperties - named.length), asMember({ ...other, bytes: Number.POSITIVE_INFINITY }))])
  }
}

function sizeOfType(sizes: Sizes, type: unknown): Size {
  if (type === 'string') return sizes.string ?? longText
  if (type === 'array' || type === 'object') return sizes[type] ?? unlimited
  return scalar
}

function sizesOfConstants(schema: JsonSchema): Sizes {
  const texts = listOf(schema['enum'] ?? [schema['const']]).map((value) => JSON.stringify(value) ?? '')
  const sizes = texts.map((text) => ({
    members: text.match(/[[{,]/g)?.length ?? 0,
    bytes: text.length * bytesPerUnit,
    isOpen: false
  }))
  const size = largest([scalar, ...sizes])
  return { types: allTypes, string: size, array: size, object: size }
}

function asMember({ members, bytes, isOpen }: Size, name = ''): Size {
  return { members: members + 1, bytes: bytes + name.length * bytesPerUnit + bytesPerMember, isOpen }
}

function times(count: number, { members, bytes, isOpen }: Size): Size {
  return count === 0 ? nothing : { members: count * members, bytes: count * bytes, isOpen }
}

function sum(sizes: readonly Size[]): Size {
  return sizes.reduce(
    (one, other) => ({ members: one.members + other.members, bytes: one.bytes + other.bytes, isOpen: one.isOpen || other.isOpen }),
    nothing
  )
}

function largest(sizes: readonly Size[]): Size {
  return sizes.reduce(larger, nothing)
}

function larger(one: Size, other: Size): Size {
  return {
    members: Math.max(one.members, other.members),
    bytes: Math.max(one.bytes, other.bytes),
    isOpen: one.isOpen || other.isOpen
  }
}

function smaller(one: Size, other: Size): Size {
  if (one.isOpen !== other.isOpen) return one.isOpen ? other : one
  return { members: Math.min(one.members, other.members), bytes: Math.min(one.bytes, other.bytes), isOpen: one.isOpen }
}

// A value that both schemas describe. Each can add properties.
function both(one: Sizes, other: Sizes): Sizes {
  const merged = (type: Container, merge: (one: Size, other: Size) => Size) => {
    const [first, second] = [one[type], other[type]]
    return first === undefined || second === undefined ? (first ?? second) : merge(first, second)
  }
  return {
    types: one.types.filter((type) => other.types.includes(type)),
    string: merged('string', smaller),
    array: merged('array', smaller),
    object: merged('object', (first, second) => sum([first, second]))
  }
}

function either(branches: readonly Sizes[]): Sizes {
  const types = [...new Set(branches.flatMap((branch) => branch.types))]
  const ofType = (type: Container) => {
    const sizes = branches.filter((branch) => branch.types.includes(type)).map((branch) => branch[type])
    return sizes.includes(undefined) || sizes.length === 0 ? undefined : largest(sizes as Size[])
  }
  const [string, array, object] = containers.map(ofType)
  return { types, string, array, object }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
