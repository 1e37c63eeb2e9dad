import { variantsOf } from './schema-alternatives.ts'
import { memberOf, type Shape, type Variant } from './schema-variant.ts'

const maxDepth = 3
const maxPairs = 64

/**
 * Returns whether no value satisfies both variants. Two objects have nothing in common if a property that one of them requires has other values in
 * the other one, or is not declared by the first.
 */
export function areDisjoint(one: Variant, other: Variant, depth = 0): boolean {
  if (familyOf(one) !== familyOf(other)) return true
  if (one.values !== undefined && other.values !== undefined) return [...one.values.keys()].every((text) => !other.values?.has(text))
  if (one.type !== 'object' || depth === maxDepth) return false
  return [...other.required, ...one.required].some((name) => {
    const [known, needed] = [one.members.get(name), other.members.get(name)]
    if (known === undefined) return other.required.has(name) && isUndeclared(one, name)
    return needed !== undefined && haveNothingInCommon(known, needed, depth + 1)
  })
}

interface Index {
  /** A property that each of the objects requires, with constant values. */
  readonly property: string | undefined
  readonly byValue: ReadonlyMap<string, readonly Variant[]>
}

const indexes = new WeakMap<readonly Variant[], Index>()

/** Returns the variants in a list that a variant can have values in common with, and maybe others. */
export function candidatesFor(one: Variant, others: readonly Variant[]): readonly Variant[] {
  const { property, byValue } = indexes.get(others) ?? indexOf(others)
  const values = property === undefined ? undefined : constantsIn(one, property)
  return values === undefined ? others : values.flatMap((value) => byValue.get(value) ?? [])
}

function indexOf(variants: readonly Variant[]): Index {
  const objects = variants.filter(({ type }) => type === 'object')
  const property = [...(objects[0]?.required ?? [])].find((name) => objects.every((one) => constantsIn(one, name) !== undefined))
  const entries =
    property === undefined ? [] : objects.flatMap((one) => (constantsIn(one, property) ?? []).map((value) => [value, one] as const))
  const byValue = new Map([...Map.groupBy(entries, ([value]) => value)].map(([value, found]) => [value, found.map(([, one]) => one)]))
  const index = { property, byValue }
  indexes.set(variants, index)
  return index
}

function constantsIn({ required, members }: Variant, name: string) {
  const member = members.get(name)
  const [only, ...more] = required.has(name) && member !== undefined ? variantsOf(member) : []
  return only?.values !== undefined && more.length === 0 ? [...only.values.keys()] : undefined
}

/** Returns the type of a variant, which for integers is `number`. */
export function familyOf({ type }: Variant): string {
  return type === 'integer' ? 'number' : type
}

function isUndeclared({ side, flats }: Variant, name: string) {
  return ['', 'nothing'].includes(memberOf(side, flats, name).key)
}

function haveNothingInCommon(one: Shape, other: Shape, depth: number) {
  if (one.key === other.key) return false
  const [some, others] = [variantsOf(one), variantsOf(other)]
  if (some.length * others.length > maxPairs) return false
  return some.every((variant) => others.every((next) => areDisjoint(variant, next, depth)))
}

const knownRivals = new WeakMap<readonly Shape[], ReturnType<typeof rivalsOf>>()

/** Returns the variants of the branches of a union, and the positions that each is at. */
export function rivalsIn(branches: readonly Shape[]): ReturnType<typeof rivalsOf> {
  const rivals = knownRivals.get(branches) ?? rivalsOf(branches)
  knownRivals.set(branches, rivals)
  return rivals
}

function rivalsOf(branches: readonly Shape[]) {
  const placed = branches.flatMap((branch, position) => variantsOf(branch).map((variant) => [variant, position] as const))
  const positions = new Map(
    [...Map.groupBy(placed, ([variant]) => variant)].map(([variant, found]) => [variant, found.map(([, at]) => at)])
  )
  return { variants: [...positions.keys()], positions }
}
