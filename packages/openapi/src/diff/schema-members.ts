import { isObject, type JsonSchema } from '@concordat/plugin-kit/json-schema'
import { textOf } from './schema-identity.ts'
import { all, memberOf, type Shape, schemasByName, shapeOf, type Variant } from './schema-variant.ts'

/**
 * What is compared: the values of one variant must fit into another. In a request, the old values must fit into the new schema; in a response, the new
 * values into the old schema. `error` is a response whose property `code` may have new values, `code` is this property. `subset` compares any two.
 */
export type Mode = 'request' | 'response' | 'error' | 'code' | 'subset'

/** Two shapes to compare. */
export interface Comparison {
  readonly mode: Mode
  readonly from: Shape
  readonly to: Shape
}

/** A problem, or members to compare. `path` is that of the member. */
export type Difference = { readonly path: string } & ({ readonly problem: string } | Comparison)

/** Returns what is compared as the old and the new one. */
export function inOrder<Compared>(mode: Mode, from: Compared, to: Compared): readonly [old: Compared, now: Compared] {
  return isRequest(mode) ? [from, to] : [to, from]
}

export function isRequest(mode: Mode): boolean {
  return mode === 'request' || mode === 'subset'
}

/** Returns the differences between the members of two variants of the same type, and all members that both have. */
export function* memberDifferences(mode: Mode, from: Variant, to: Variant): Generator<Difference> {
  if (to.type === 'object')
    for (const compare of [propertyDifferences, requiredDifferences, furtherDifferences, nameDifferences, discriminatorDifferences])
      yield* compare(mode, from, to)
  if (to.type === 'array') yield* itemDifferences(mode, from, to)
  const content = all(to, 'contentSchema')
  if (content.length > 0)
    yield { path: ' content', mode, from: shapeOf(from.side, all(from, 'contentSchema')), to: shapeOf(to.side, content) }
}

function* propertyDifferences(mode: Mode, from: Variant, to: Variant): Generator<Difference> {
  const [old, now] = inOrder(mode, from, to)
  for (const name of new Set([...old.members.keys(), ...now.members.keys()])) {
    const [one, other] = [from, to].map((variant) => variant.members.get(name) ?? memberOf(variant.side, variant.flats, name)) as [
      Shape,
      Shape
    ]
    const [before, after] = inOrder(mode, one, other)
    const isRemoved = !now.members.has(name) && (after.key === 'nothing' || (after.key === '' && mode !== 'subset'))
    // New properties are compatible, where unknown ones were ignored or forbidden.
    const isNew = !old.members.has(name) && ['', 'nothing'].includes(before.key)
    if (isRemoved) yield { path: `.${name}`, problem: 'was removed' }
    else if (!isNew) yield { path: `.${name}`, mode: mode === 'error' && name === 'code' ? 'code' : mode, from: one, to: other }
  }
}

function* requiredDifferences(mode: Mode, from: Variant, to: Variant): Generator<Difference> {
  for (const name of to.required) {
    if (from.required.has(name)) continue
    if (isRequest(mode)) yield { path: `.${name}`, problem: 'is now required' }
    else if (from.members.has(name) || !to.members.has(name)) yield { path: `.${name}`, problem: 'is now optional' }
  }
}

// The properties without a declaration of their own.
function* furtherDifferences(mode: Mode, from: Variant, to: Variant): Generator<Difference> {
  const [some, others] = [patternsOf(from), patternsOf(to)]
  const [rest, otherRest] = [restOf(from), restOf(to)]
  for (const pattern of others) {
    const known = some.has(pattern) ? [pattern] : [...some]
    for (const one of known) yield* further(mode, `./${pattern}/`, patternOf(from, one, true), patternOf(to, pattern))
    if (!some.has(pattern)) yield* further(mode, `./${pattern}/`, rest, patternOf(to, pattern))
  }
  for (const pattern of some) if (!others.has(pattern)) yield* further(mode, `./${pattern}/`, patternOf(from, pattern, true), otherRest)
  yield* further(mode, '.*', rest, otherRest)
}

function* further(mode: Mode, path: string, from: Shape, to: Shape): Generator<Difference> {
  const [old, now] = inOrder(mode, from, to)
  // An object that had only known properties may have others in a response, like any new property.
  if (old.key === 'nothing') return
  if (now.key !== 'nothing') yield { path, mode, from, to }
  else if (old.key !== '') yield { path, problem: 'was removed' }
  else if (isRequest(mode)) yield { path: '', problem: 'no longer accepts unknown properties' }
}

function* nameDifferences(mode: Mode, from: Variant, to: Variant): Generator<Difference> {
  const names = all(to, 'propertyNames')
  if (names.length === 0) return
  const isClosed = patternsOf(from).size === 0 && restOf(from).key === 'nothing'
  const known = [{ type: 'string' }, ...all(from, 'propertyNames'), ...(isClosed ? [{ enum: [...from.members.keys()] }] : [])]
  yield { path: '.* name', mode, from: shapeOf(from.side, known), to: shapeOf(to.side, names) }
}

// Clients read the property that selects an alternative, and its values.
function* discriminatorDifferences(mode: Mode, from: Variant, to: Variant): Generator<Difference> {
  const [old, now] = inOrder(mode, from, to).map((variant) => all(variant, 'discriminator').filter(isObject)) as [
    JsonSchema[],
    JsonSchema[]
  ]
  const lost = old.filter((one) => !now.some((next) => keepsDiscriminator(one, next)))
  if (mode !== 'subset' && lost.length > 0)
    yield { path: '', problem: `its discriminator was ${textOf(lost[0])} and is ${now.map(textOf)[0] ?? 'none'}` }
}

function keepsDiscriminator(one: JsonSchema, next: JsonSchema) {
  return one['propertyName'] === next['propertyName'] && valuesOf(one).every((value) => valuesOf(next).includes(value))
}

function valuesOf({ mapping }: JsonSchema) {
  return isObject(mapping) ? Object.keys(mapping) : []
}

function* itemDifferences(mode: Mode, from: Variant, to: Variant): Generator<Difference> {
  const length = Math.max(positionsOf(from), positionsOf(to))
  const maxItems = Math.min(...all(from, 'maxItems').filter((one) => typeof one === 'number'))
  for (let position = 0; position <= length && position < maxItems; position += 1) {
    const path = position < length ? `[${position}]` : '[]'
    const [one, other] = [itemOf(from, position), itemOf(to, position)]
    const isRemoved = !isRequest(mode) && one.key === 'nothing' && !['', 'nothing'].includes(other.key)
    yield isRemoved ? { path, problem: 'was removed' } : { path, mode, from: one, to: other }
  }
}

/** Returns the number of positions in an array that have schemas of their own. */
export function positionsOf({ flats }: Variant): number {
  return Math.max(0, ...flats.map((flat) => tupleOf(flat).length))
}

/** Returns what is required of the item at a position. */
export function itemOf({ side, flats }: Variant, position: number): Shape {
  return shapeOf(
    side,
    flats.map((flat) => tupleOf(flat)[position] ?? furtherItems(flat))
  )
}

// A released document may contain a tuple in the form of draft 7.
function tupleOf({ items, prefixItems = items }: JsonSchema): readonly unknown[] {
  return Array.isArray(prefixItems) ? prefixItems : []
}

function furtherItems({ items, additionalItems }: JsonSchema): unknown {
  return Array.isArray(items) ? additionalItems : items
}

function restOf({ side, flats }: Variant): Shape {
  return shapeOf(
    side,
    flats.map(({ additionalProperties }) => additionalProperties)
  )
}

function patternsOf({ flats }: Variant): ReadonlySet<string> {
  return new Set(flats.flatMap((flat) => Object.keys(schemasByName(flat, 'patternProperties'))))
}

// Each schema with other patterns leaves open which of them a name matches, so nothing is known from it.
function patternOf({ side, flats }: Variant, pattern: string, isFrom = false): Shape {
  const schemas = flats.flatMap((flat) => {
    const patterns = schemasByName(flat, 'patternProperties')
    if (Object.hasOwn(patterns, pattern)) return [patterns[pattern]]
    return isFrom && Object.keys(patterns).length > 0 ? [] : [flat['additionalProperties']]
  })
  return shapeOf(side, schemas)
}
