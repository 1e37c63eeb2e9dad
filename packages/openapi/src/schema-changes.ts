import { isObject, type JsonSchema } from '@concordat/json-schema'
import type { OpenapiDocument } from './document.ts'
import { plainSchema } from './plain-schema.ts'
import { propertiesOf, requiredOf, schemasUnder, typesOf } from './schema-parts.ts'

/** Whether a schema is used in requests or in responses. The service reads the values of requests, and its clients read those of responses. */
export type Direction = 'request' | 'response'

/** Reports a change that breaks a client. `place` includes the path in the schema. */
export type Report = (place: string, problem: string) => void

/** The released document and the new one, and what receives the changes that break clients. */
export interface Comparison {
  readonly was: OpenapiDocument
  readonly is: OpenapiDocument
  readonly report: Report
}

type Branches = readonly JsonSchema[]
type Seen = ReadonlyMap<JsonSchema, ReadonlySet<JsonSchema>>

/**
 * Reports the incompatible changes between two versions of a schema (rule V3). The service must still accept what a client sends, so the schema of
 * a request may only become wider. Clients must still understand what they read, so the schema of a response may only become narrower. Both must
 * keep declared properties.
 */
export function compareSchemas(
  comparison: Comparison,
  direction: Direction,
  place: string,
  was: JsonSchema = {},
  is: JsonSchema = {},
  seen = new Map<JsonSchema, Set<JsonSchema>>()
): void {
  const { report } = comparison
  const [old, now] = [plainSchema(was, comparison.was), plainSchema(is, comparison.is)]
  if (old === undefined || now === undefined) {
    if (old !== now) report(place, 'its schema can no longer be resolved')
    return
  }
  const compared = seen.get(old.origin) ?? new Set()
  if (compared.has(now.origin)) return
  seen.set(old.origin, compared.add(now.origin))
  const change: Change = { was: old.schema, is: now.schema, direction, report: (problem, path = '') => report(place + path, problem) }
  if (compareUnions(comparison, place, change, seen)) return
  for (const compare of [compareTypes, compareValues, compareFormat, compareBounds, compareDefault, compareMembers]) compare(change)
  const present = new Map(partsOf(now.schema))
  for (const [path, part] of partsOf(old.schema)) {
    const next = present.get(path)
    if (next !== undefined) compareSchemas(comparison, direction, place + path, part, next, seen)
  }
}

// The properties, the items of a tuple, which a released document may contain in the form of draft 7, and all other values.
function partsOf(schema: JsonSchema): readonly (readonly [path: string, schema: JsonSchema])[] {
  const { items, prefixItems = items, additionalProperties } = schema
  const tuple: readonly unknown[] = Array.isArray(prefixItems) ? prefixItems : []
  const parts: (readonly [string, unknown])[] = [
    ['.*', additionalProperties],
    ...Object.entries(propertiesOf(schema)).map(([name, one]) => [`.${name}`, one] as const),
    ...tuple.map((one, index) => [`[${index}]`, one] as const),
    ['[]', items]
  ]
  return parts.flatMap(([path, one]) => (isObject(one) ? [[path, one]] : []))
}

interface Change {
  readonly was: JsonSchema
  readonly is: JsonSchema
  readonly direction: Direction
  /** `path` is that of a property, from the schema. */
  readonly report: (problem: string, path?: string) => void
}

// In requests, each old alternative must fit into a new one. In responses, each new alternative must fit into an old one.
function compareUnions(comparison: Comparison, place: string, { was, is, direction, report }: Change, seen: Seen): boolean {
  const [old, now] = [was, is].map((schema) => schemasUnder(schema, ['anyOf' in schema ? 'anyOf' : 'oneOf'])) as [Branches, Branches]
  if (old.length === 0 && now.length === 0) return false
  const [before, after] = [old.length === 0 ? [was] : old, now.length === 0 ? [is] : now]
  const fits = (one: JsonSchema, next: JsonSchema) => {
    let problems = 0
    // A copy, because the problems of an alternative that does not fit are not reported.
    const known = new Map([...seen].map(([schema, compared]) => [schema, new Set(compared)]))
    compareSchemas({ ...comparison, report: () => void (problems += 1) }, direction, place, one, next, known)
    return problems === 0
  }
  if (direction === 'request') {
    const lost = before.filter((one) => !after.some((next) => fits(one, next)))
    if (lost.length > 0) report(`no longer accepts ${lost.length} of its ${before.length} alternatives`)
  } else {
    const added = after.filter((next) => !before.some((one) => fits(one, next)))
    if (added.length > 0) report(`has ${added.length} alternatives that clients do not know`)
  }
  return true
}

function compareTypes({ was, is, direction, report }: Change) {
  const [old, now] = [typesOf(was), typesOf(is)]
  const [from, to] = direction === 'request' ? [old, now] : [now, old]
  if (to.length === 0 || (from.length > 0 && from.every((type) => covers(to, type)))) return
  report(`its type was ${old.join(' or ') || 'anything'} and is ${now.join(' or ') || 'anything'}`)
}

function covers(types: readonly string[], type: string) {
  return types.includes(type) || (type === 'integer' && types.includes('number'))
}

function compareValues({ was, is, direction, report }: Change) {
  const [old, now] = [valuesOf(was), valuesOf(is)]
  if (direction === 'request') {
    if (now === undefined) return
    if (old === undefined) return report(`now accepts only ${now.join(', ')}`)
    const lost = old.filter((value) => !now.includes(value))
    if (lost.length > 0) report(`no longer accepts ${lost.join(', ')}`)
  } else {
    if (old === undefined) return
    if (now === undefined) return report(`can now be any value, but was one of ${old.join(', ')}`)
    const added = now.filter((value) => !old.includes(value))
    if (added.length > 0) report(`can now be ${added.join(', ')}, which clients do not know`)
  }
}

function valuesOf(schema: JsonSchema): readonly string[] | undefined {
  const values = 'const' in schema ? [schema['const']] : schema['enum']
  return Array.isArray(values) ? values.map((value) => JSON.stringify(value)) : undefined
}

function compareFormat({ was, is, direction, report }: Change) {
  for (const key of ['format', 'pattern', 'contentEncoding', 'contentMediaType']) {
    const [from, to] = direction === 'request' ? [was[key], is[key]] : [is[key], was[key]]
    // Removing a restriction from requests, or adding a restriction to responses, does not break clients.
    if (from !== to && to !== undefined) report(differenceIn(key, was, is))
  }
}

const lowerBounds = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties']
const upperBounds = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties']

function compareBounds({ was, is, direction, report }: Change) {
  const [from, to] = direction === 'request' ? [was, is] : [is, was]
  const [{ multipleOf }, { multipleOf: step }] = [from, to]
  const outside = [
    ...lowerBounds.filter((key) => bound(to, key, Number.NEGATIVE_INFINITY) > bound(from, key, Number.NEGATIVE_INFINITY)),
    ...upperBounds.filter((key) => bound(to, key, Number.POSITIVE_INFINITY) < bound(from, key, Number.POSITIVE_INFINITY)),
    ...(step !== undefined && !(Number(multipleOf) % Number(step) === 0) ? ['multipleOf'] : []),
    ...(to['uniqueItems'] === true && from['uniqueItems'] !== true ? ['uniqueItems'] : [])
  ]
  for (const key of outside) report(differenceIn(key, was, is))
}

function bound(schema: JsonSchema, key: string, open: number) {
  const value = schema[key]
  return typeof value === 'number' ? value : open
}

// What happens when a client omits a value is part of the meaning of an operation.
function compareDefault({ was, is, direction, report }: Change) {
  if (direction === 'response' || !('default' in was)) return
  const [old, now] = [JSON.stringify(was['default']), JSON.stringify(is['default'])]
  if (old !== now) report(`its default was ${old} and is ${now ?? 'none'}`)
}

function compareMembers({ was, is, direction, report }: Change) {
  const [old, now] = [propertiesOf(was), propertiesOf(is)]
  for (const name of Object.keys(old)) if (now[name] === undefined) report('was removed', `.${name}`)
  const [needed, known] = direction === 'request' ? [requiredOf(is), requiredOf(was)] : [requiredOf(was), requiredOf(is)]
  for (const name of needed.filter((one) => !known.includes(one))) {
    if (direction === 'request') report('is now required', `.${name}`)
    else if (now[name] !== undefined) report('is now optional', `.${name}`)
  }
  const isClosed = is['additionalProperties'] === false && was['additionalProperties'] !== false
  if (direction === 'request' && isClosed && Object.keys(old).length > 0) report('no longer accepts unknown properties')
}

function differenceIn(key: string, was: JsonSchema, is: JsonSchema) {
  const [old, now] = [was[key], is[key]].map((value) =>
    value === undefined ? 'open' : typeof value === 'string' ? value : JSON.stringify(value)
  )
  return `its ${key} was ${old} and is ${now}`
}
