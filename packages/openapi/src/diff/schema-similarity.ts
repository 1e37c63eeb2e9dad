import { inOrder, isRequest, type Mode } from './schema-members.ts'
import { candidatesFor } from './schema-overlap.ts'
import type { Variant } from './schema-variant.ts'

// A variant is compared with at most this number of others.
const maxSimilar = 64

/** Returns whether the types, and the names of properties, do not exclude that a variant fits into another. */
export function isPossible(mode: Mode, from: Variant, to: Variant): boolean {
  if (!isOfType(from, to)) return false
  if (isRequest(mode) && ![...to.required].every((name) => from.required.has(name))) return false
  const [old, now] = inOrder(mode, from, to)
  const isOpen = now.flats.some((flat) => 'additionalProperties' in flat || 'patternProperties' in flat)
  return mode === 'subset' || isOpen || [...old.members.keys()].every((name) => now.members.has(name))
}

/** Returns the variants in a list in which a variant could fit, and maybe others. */
export function candidatesOf(mode: Mode, one: Variant, others: readonly Variant[]): readonly Variant[] {
  return isErrorMode(mode) ? others : candidatesFor(one, others)
}

/** Returns whether a variant is compared with only some of the others. */
export function isCut(mode: Mode, one: Variant, others: readonly Variant[]): boolean {
  return candidatesOf(mode, one, others).filter((other) => isPossible(mode, one, other)).length > maxSimilar
}

/** Returns the candidates in which a variant could fit, first those that have most members in common with it. Of many, only the first ones. */
export function mostSimilar(mode: Mode, one: Variant, candidates: readonly Variant[]): readonly Variant[] {
  const possible = candidates.filter((other) => isPossible(mode, one, other))
  if (possible.length < 2) return possible
  const members = [...one.members]
  const score = ({ members: known }: Variant) => members.filter(([name, { key }]) => known.get(name)?.key === key).length
  const scored = possible.map((other) => ({ other, score: score(other) })).toSorted((some, more) => more.score - some.score)
  return scored.slice(0, maxSimilar).map(({ other }) => other)
}

/** Returns whether the values are errors, whose code can be a new one. */
export function isErrorMode(mode: Mode): boolean {
  return mode === 'error' || mode === 'code'
}

/** Returns whether each value of the type of the first variant has the type of the other. */
export function isOfType(one: Variant, other: Variant): boolean {
  return one.type === other.type || (one.type === 'integer' && other.type === 'number')
}

/** Returns whether the values have no members or items. */
export function isScalar({ type }: Variant): boolean {
  return type !== 'object' && type !== 'array'
}
