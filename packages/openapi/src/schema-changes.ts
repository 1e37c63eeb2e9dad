import { isObject, type JsonSchema } from '@concordat/json-schema'
import { follow, type OpenapiDocument } from './document.ts'
import { propertiesOf, requiredOf, typesOf } from './schema-parts.ts'

/** Whether a schema is used in requests or in responses. The service reads the values of requests, and its clients read those of responses. */
export type Direction = 'request' | 'response'

/** Reports a change that breaks a client. `place` includes the path in the schema. */
export type Report = (place: string, problem: string) => void

interface Side {
  readonly schema: JsonSchema
  readonly document: OpenapiDocument
}

/**
 * Reports the incompatible changes between two versions of a schema (rule V3). The service must still accept what a client sends, so the schema of
 * a request may only become wider. Clients must still understand what they read, so the schema of a response may only become narrower. Both must
 * keep declared properties.
 */
export function compareSchemas(was: Side, is: Side, direction: Direction, place: string, report: Report): void {
  compare(was, is, direction, place, report, new Map())
}

function compare(was: Side, is: Side, direction: Direction, place: string, report: Report, seen: Map<JsonSchema, Set<JsonSchema>>): void {
  const [old, now] = [plain(was), plain(is)]
  if (old === undefined || now === undefined) {
    if (old !== now) report(place, 'its schema can no longer be resolved')
    return
  }
  const compared = seen.get(old.origin) ?? new Set()
  if (compared.has(now.origin)) return
  seen.set(old.origin, compared.add(now.origin))
  const context: Context = { was: old.schema, is: now.schema, direction, place, report }
  if (compareUnions(context, was.document, is.document)) return
  compareTypes(context)
  compareValues(context)
  compareFormat(context)
  compareBounds(context)
  compareDefault(context)
  compareMembers(context)
  for (const [name, member] of Object.entries(propertiesOf(old.schema))) {
    const next = propertiesOf(now.schema)[name]
    if (next !== undefined) compare(side(member, was), side(next, is), direction, `${place}.${name}`, report, seen)
  }
  for (const [key, suffix] of [
    ['items', '[]'],
    ['additionalProperties', '.*']
  ] as const) {
    const [inner, next] = [old.schema[key], now.schema[key]]
    if (isObject(inner) && isObject(next)) compare(side(inner, was), side(next, is), direction, `${place}${suffix}`, report, seen)
  }
}

interface Context {
  readonly was: JsonSchema
  readonly is: JsonSchema
  readonly direction: Direction
  readonly place: string
  readonly report: Report
}

function side(schema: JsonSchema, { document }: Side): Side {
  return { schema, document }
}

/**
 * Returns a schema with references and `allOf` resolved, and with a union with null written as a list of types. `origin` identifies schemas that
 * were compared already.
 */
function plain(
  { schema, document }: Side,
  containers: readonly JsonSchema[] = []
): { readonly schema: JsonSchema; readonly origin: JsonSchema } | undefined {
  const target = follow<JsonSchema>(document, schema)
  // A schema that contains itself in allOf adds nothing to itself.
  if (target === undefined || containers.includes(target)) return undefined
  let joined: JsonSchema = target
  if (Array.isArray(target['allOf'])) {
    const { allOf, ...rest }: JsonSchema = target
    const parts = (allOf as readonly JsonSchema[]).flatMap((part): readonly JsonSchema[] => {
      const found = plain({ schema: part, document }, [...containers, target])
      return found === undefined ? [] : [found.schema]
    })
    joined = [...parts, rest].reduce<JsonSchema>(join, {})
  }
  return { schema: withNullAsType(joined, document), origin: target }
}

function join(one: JsonSchema, other: JsonSchema): JsonSchema {
  const properties: Record<string, JsonSchema> = { ...propertiesOf(one) }
  for (const [name, schema] of Object.entries(propertiesOf(other))) {
    const known = properties[name]
    properties[name] = known === undefined ? schema : merged(known, schema)
  }
  const required = [...new Set([...requiredOf(one), ...requiredOf(other)])]
  return {
    ...one,
    ...other,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required })
  }
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
function withNullAsType(schema: JsonSchema, document: OpenapiDocument): JsonSchema {
  for (const key of ['anyOf', 'oneOf']) {
    const branches = branchesOf(schema, key)
    const others = branches.filter((branch) => branch['type'] !== 'null')
    if (others.length !== 1 || branches.length !== 2) continue
    const only = plain({ schema: others[0] as JsonSchema, document })?.schema
    const types = only === undefined ? [] : typesOf(only)
    if (only === undefined || types.length === 0) continue
    const { [key]: _branches, ...rest } = schema
    return { ...rest, ...only, type: [...types, 'null'], ...(Array.isArray(only['enum']) && { enum: [...only['enum'], null] }) }
  }
  return schema
}

function branchesOf(schema: JsonSchema, key?: string): readonly JsonSchema[] {
  const branches = key === undefined ? (schema['anyOf'] ?? schema['oneOf']) : schema[key]
  return Array.isArray(branches) ? branches.filter(isObject) : []
}

// In requests, each old alternative must fit into a new one. In responses, each new alternative must fit into an old one.
function compareUnions({ was, is, direction, place, report }: Context, wasIn: OpenapiDocument, isIn: OpenapiDocument): boolean {
  const [old, now] = [branchesOf(was), branchesOf(is)]
  if (old.length === 0 && now.length === 0) return false
  const [before, after] = [old.length === 0 ? [was] : old, now.length === 0 ? [is] : now]
  const fits = (one: JsonSchema, next: JsonSchema) => {
    let problems = 0
    compareSchemas({ schema: one, document: wasIn }, { schema: next, document: isIn }, direction, place, () => {
      problems += 1
    })
    return problems === 0
  }
  if (direction === 'request') {
    const lost = before.filter((one) => !after.some((next) => fits(one, next)))
    if (lost.length > 0) report(place, `no longer accepts ${lost.length} of its ${before.length} alternatives`)
  } else {
    const added = after.filter((next) => !before.some((one) => fits(one, next)))
    if (added.length > 0) report(place, `has ${added.length} alternatives that clients do not know`)
  }
  return true
}

function compareTypes({ was, is, direction, place, report }: Context) {
  const [old, now] = [typesOf(was), typesOf(is)]
  const [from, to] = direction === 'request' ? [old, now] : [now, old]
  if (to.length === 0 || (from.length > 0 && from.every((type) => covers(to, type)))) return
  report(place, `its type was ${old.join(' or ') || 'anything'} and is ${now.join(' or ') || 'anything'}`)
}

function covers(types: readonly string[], type: string) {
  return types.includes(type) || (type === 'integer' && types.includes('number'))
}

function compareValues({ was, is, direction, place, report }: Context) {
  const [old, now] = [valuesOf(was), valuesOf(is)]
  if (direction === 'request') {
    if (now === undefined) return
    if (old === undefined) return report(place, `now accepts only ${now.join(', ')}`)
    const lost = old.filter((value) => !now.includes(value))
    if (lost.length > 0) report(place, `no longer accepts ${lost.join(', ')}`)
  } else {
    if (old === undefined) return
    if (now === undefined) return report(place, `can now be any value, but was one of ${old.join(', ')}`)
    const added = now.filter((value) => !old.includes(value))
    if (added.length > 0) report(place, `can now be ${added.join(', ')}, which clients do not know`)
  }
}

function valuesOf(schema: JsonSchema): readonly string[] | undefined {
  if ('const' in schema) return [JSON.stringify(schema['const'])]
  return Array.isArray(schema['enum']) ? schema['enum'].map((value) => JSON.stringify(value)) : undefined
}

function compareFormat({ was, is, direction, place, report }: Context) {
  for (const key of ['format', 'pattern', 'contentEncoding', 'contentMediaType']) {
    if (was[key] === is[key]) continue
    const [from, to] = direction === 'request' ? [was[key], is[key]] : [is[key], was[key]]
    // Removing a restriction from requests, or adding a restriction to responses, does not break clients.
    if (to === undefined && from !== undefined) continue
    report(place, `its ${key} was ${shown(was[key])} and is ${shown(is[key])}`)
  }
}

const lowerBounds = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties']
const upperBounds = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties']

function compareBounds({ was, is, direction, place, report }: Context) {
  const [from, to] = direction === 'request' ? [was, is] : [is, was]
  const outside = [
    ...lowerBounds.filter((key) => bound(to, key, Number.NEGATIVE_INFINITY) > bound(from, key, Number.NEGATIVE_INFINITY)),
    ...upperBounds.filter((key) => bound(to, key, Number.POSITIVE_INFINITY) < bound(from, key, Number.POSITIVE_INFINITY)),
    ...(to['multipleOf'] !== undefined && !isMultiple(from['multipleOf'], to['multipleOf']) ? ['multipleOf'] : []),
    ...(to['uniqueItems'] === true && from['uniqueItems'] !== true ? ['uniqueItems'] : [])
  ]
  for (const key of outside) report(place, `its ${key} was ${shown(was[key])} and is ${shown(is[key])}`)
}

function bound(schema: JsonSchema, key: string, open: number) {
  const value = schema[key]
  return typeof value === 'number' ? value : open
}

function isMultiple(value: unknown, of: unknown) {
  return typeof value === 'number' && typeof of === 'number' && value % of === 0
}

// What happens when a client omits a value is part of the meaning of an operation.
function compareDefault({ was, is, direction, place, report }: Context) {
  if (direction === 'response' || !('default' in was)) return
  const [old, now] = [JSON.stringify(was['default']), JSON.stringify(is['default'])]
  if (old !== now) report(place, `its default was ${old} and is ${now ?? 'none'}`)
}

function compareMembers({ was, is, direction, place, report }: Context) {
  const [old, now] = [propertiesOf(was), propertiesOf(is)]
  for (const name of Object.keys(old)) if (now[name] === undefined) report(`${place}.${name}`, 'was removed')
  const [needed, known] = direction === 'request' ? [requiredOf(is), requiredOf(was)] : [requiredOf(was), requiredOf(is)]
  for (const name of needed.filter((one) => !known.includes(one))) {
    if (direction === 'request') report(`${place}.${name}`, 'is now required')
    else if (now[name] !== undefined) report(`${place}.${name}`, 'is now optional')
  }
  if (
    direction === 'request' &&
    is['additionalProperties'] === false &&
    was['additionalProperties'] !== false &&
    Object.keys(old).length > 0
  )
    report(place, 'no longer accepts unknown properties')
}

function shown(value: unknown) {
  return value === undefined ? 'open' : typeof value === 'string' ? value : JSON.stringify(value)
}
