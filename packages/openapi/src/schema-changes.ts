import { isObject, type JsonSchema } from '@concordat/json-schema'
import type { OpenapiDocument } from './document.ts'
import { branchesOf, type PlacedSchema, plainSchema } from './plain-schema.ts'
import { propertiesOf, requiredOf, typesOf } from './schema-parts.ts'

/** Whether a schema is used in requests or in responses. The service reads the values of requests, and its clients read those of responses. */
export type Direction = 'request' | 'response'

/** Reports a change that breaks a client. `place` includes the path in the schema. */
export type Report = (place: string, problem: string) => void

/**
 * Reports the incompatible changes between two versions of a schema (rule V3). The service must still accept what a client sends, so the schema of
 * a request may only become wider. Clients must still understand what they read, so the schema of a response may only become narrower. Both must
 * keep declared properties.
 */
export function compareSchemas(was: PlacedSchema, is: PlacedSchema, direction: Direction, place: string, report: Report): void {
  compare(was, is, direction, place, report, new Map())
}

function compare(
  was: PlacedSchema,
  is: PlacedSchema,
  direction: Direction,
  place: string,
  report: Report,
  seen: Map<JsonSchema, Set<JsonSchema>>
): void {
  const [old, now] = [plainSchema(was), plainSchema(is)]
  if (old === undefined || now === undefined) {
    if (old !== now) report(place, 'its schema can no longer be resolved')
    return
  }
  const compared = seen.get(old.origin) ?? new Set()
  if (compared.has(now.origin)) return
  seen.set(old.origin, compared.add(now.origin))
  const context: Context = { was: old.schema, is: now.schema, direction, place, report }
  if (compareUnions(context, was.document, is.document, seen)) return
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
  for (const [index, member] of tupleOf(old.schema).entries()) {
    const next = tupleOf(now.schema)[index]
    if (next !== undefined) compare(side(member, was), side(next, is), direction, `${place}[${index}]`, report, seen)
  }
  for (const [key, suffix] of [
    ['items', '[]'],
    ['additionalProperties', '.*']
  ] as const) {
    const [inner, next] = [old.schema[key], now.schema[key]]
    if (isObject(inner) && isObject(next)) compare(side(inner, was), side(next, is), direction, `${place}${suffix}`, report, seen)
  }
}

// A released document may contain a tuple in the form of draft 7.
function tupleOf({ prefixItems, items }: JsonSchema): readonly JsonSchema[] {
  const list = prefixItems ?? items
  return Array.isArray(list) ? list.filter(isObject) : []
}

interface Context {
  readonly was: JsonSchema
  readonly is: JsonSchema
  readonly direction: Direction
  readonly place: string
  readonly report: Report
}

function side(schema: JsonSchema, { document }: PlacedSchema): PlacedSchema {
  return { schema, document }
}

// In requests, each old alternative must fit into a new one. In responses, each new alternative must fit into an old one.
function compareUnions(
  { was, is, direction, place, report }: Context,
  wasIn: OpenapiDocument,
  isIn: OpenapiDocument,
  seen: ReadonlyMap<JsonSchema, ReadonlySet<JsonSchema>>
): boolean {
  const [old, now] = [branchesOf(was), branchesOf(is)]
  if (old.length === 0 && now.length === 0) return false
  const [before, after] = [old.length === 0 ? [was] : old, now.length === 0 ? [is] : now]
  const fits = (one: JsonSchema, next: JsonSchema) => {
    let problems = 0
    const count = () => void (problems += 1)
    // A copy, because the problems of an alternative that does not fit are not reported.
    const known = new Map([...seen].map(([schema, compared]) => [schema, new Set(compared)]))
    compare({ schema: one, document: wasIn }, { schema: next, document: isIn }, direction, place, count, known)
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
