import type { JsonSchema } from '@concordat/plugin-kit/json-schema'
import type { OpenapiDocument } from './document.ts'
import { variantsOf } from './schema-alternatives.ts'
import { type Side, sidesOf } from './schema-identity.ts'
import { keywordProblems } from './schema-keywords.ts'
import { type Comparison, type Difference, inOrder, isRequest, type Mode, memberDifferences } from './schema-members.ts'
import { areDisjoint, candidatesFor, familyOf } from './schema-overlap.ts'
import { type Shape, shapeOf, type Variant } from './schema-variant.ts'

/** Reports a change that breaks clients. `place` includes the path in the schema. */
export type Report = (place: string, problem: string) => void

/** Whether one shape or variant fits into another: true until the comparison finds a difference. */
interface Pair {
  fits: boolean
  readonly check: () => boolean
  /** The pairs that were found to fit because this one does. */
  readonly users: Set<Pair>
}

// A deeper pair waits, because the stack is limited.
const maxDepth = 100

/**
 * Compares the schemas of two documents (rule V3). The service must still accept what a client sends, so the schema of a request may only become
 * wider. Clients must still understand what they read, so the schema of a response may only become narrower. Both must keep declared properties.
 */
export class SchemaComparison {
  readonly #sides: readonly [Side, Side]
  readonly #report: Report
  readonly #pairs = new Map<string, Pair>()
  readonly #unchecked: Pair[] = []
  readonly #known = new Map<string, readonly Difference[]>()
  #user: Pair | undefined
  #depth = 0

  constructor(was: OpenapiDocument, is: OpenapiDocument, report: Report) {
    this.#sides = sidesOf(was, is)
    this.#report = report
  }

  /** Reports the incompatible changes of a schema. A missing schema accepts any value. */
  compare(mode: Mode, place: string, was: JsonSchema | undefined, is: JsonSchema | undefined): void {
    const [from, to] = inOrder(mode, shapeOf(this.#sides[0], [was]), shapeOf(this.#sides[1], [is]))
    const seen = new Set<string>()
    const differences: Difference[] = [{ path: place, mode, from, to }]
    // The loop also visits what it adds.
    for (const one of differences) {
      if ('problem' in one) this.#report(one.path, one.problem)
      else if (!seen.has(nameOfPair(one))) {
        seen.add(nameOfPair(one))
        for (const reason of this.#reasons(one)) differences.push({ ...reason, path: one.path + reason.path })
      }
    }
  }

  // The reasons for which a shape does not fit into another: problems, and members that do not fit.
  #reasons(comparison: Comparison): readonly Difference[] {
    const name = nameOfPair(comparison)
    const { mode, from, to } = comparison
    const reasons = this.#known.get(name) ?? (this.#settled(() => this.#fits(mode, from, to)) ? [] : this.#found(comparison))
    this.#known.set(name, reasons)
    return reasons
  }

  #found({ mode, from, to }: Comparison): readonly Difference[] {
    const [some, others] = [variantsOf(from), variantsOf(to)]
    const lost = this.#settled(() => some.filter((one, index) => !this.#isCovered(mode, one, others, index)))
    const isOfKnownType = (one: Variant) => others.some((other) => isOfType(one, other))
    const [old, now] = inOrder(mode, some, others).map(typesIn)
    const types = lost.every(isOfKnownType) ? [] : [{ path: '', problem: `its type was ${old} and is ${now}` }]
    const further = [...Map.groupBy(lost.filter(isOfKnownType), familyOf)].flatMap(([family, left]) => {
      const [before, after] = [some, others].map((variants) => variants.filter((one) => familyOf(one) === family)) as [Variant[], Variant[]]
      const reasons = this.#settled(() => this.#commonReasons(mode, left, before, after))
      if (reasons.length > 0) return reasons
      const problem = isRequest(mode)
        ? `no longer accepts ${left.length} of its ${before.length} alternatives`
        : `has ${left.length} alternatives that clients do not know`
      return [{ path: '', problem }]
    })
    return [...types, ...further]
  }

  // The reasons for which all alternatives are lost. Otherwise the loss is that of an alternative.
  #commonReasons(mode: Mode, lost: readonly Variant[], before: readonly Variant[], after: readonly Variant[]): readonly Difference[] {
    if (lost.length < before.length || (before.length > 1 && before.length !== after.length)) return []
    const reasonsOf = (one: Variant, other: Variant | undefined) =>
      new Map(
        other && [...this.#differences(mode, one, other)].filter((reason) => this.#breaks(reason)).map((reason) => [nameOf(reason), reason])
      )
    const [first, ...others] =
      before.length === 1
        ? after
            .map((other) => reasonsOf(before[0] as Variant, other))
            .toSorted((one, other) => one.size - other.size)
            .slice(0, 1)
        : before.map((one, index) => reasonsOf(one, after[index]))
    return [...(first ?? [])].flatMap(([name, reason]) => (others.every((one) => one.has(name)) ? [reason] : []))
  }

  // Repeats what is computed until it depends on checked pairs only.
  #settled<Result>(compute: () => Result): Result {
    let result = compute()
    for (let pair = this.#unchecked.pop(); pair !== undefined; pair = this.#unchecked.pop()) {
      this.#check(pair)
      if (this.#unchecked.length === 0) result = compute()
    }
    return result
  }

  #check(pair: Pair) {
    const outer = this.#user
    this.#user = pair
    this.#depth += 1
    pair.fits &&= pair.check()
    this.#depth -= 1
    this.#user = outer
    if (pair.fits) return
    this.#unchecked.push(...pair.users)
    pair.users.clear()
  }

  #pair(key: string, check: () => boolean): boolean {
    let pair = this.#pairs.get(key)
    if (pair === undefined) {
      pair = { fits: true, check, users: new Set() }
      this.#pairs.set(key, pair)
      if (this.#depth < maxDepth) this.#check(pair)
      else this.#unchecked.push(pair)
    }
    if (pair.fits && this.#user !== undefined) pair.users.add(this.#user)
    return pair.fits
  }

  #fits(mode: Mode, from: Shape, to: Shape): boolean {
    if (from.key === to.key) return true
    const check = () => variantsOf(from).every((one, index) => this.#isCovered(mode, one, variantsOf(to), index))
    return this.#pair(nameOfPair({ mode, from, to }), check)
  }

  // The counterpart of a variant is most likely at the same place.
  #isCovered(mode: Mode, one: Variant, others: readonly Variant[], index: number): boolean {
    const counterpart = others[index]
    if (counterpart !== undefined && this.#covers(mode, one, counterpart)) return true
    const candidates = isErrorMode(mode) ? others : candidatesFor(one, others)
    return candidates.some((other) => this.#covers(mode, one, other))
  }

  #covers(mode: Mode, from: Variant, to: Variant): boolean {
    if (from.key === to.key) return true
    if (!isOfType(from, to) || (!isErrorMode(mode) && areDisjoint(from, to))) return false
    // What is cheap to compare comes first: most candidates differ in it.
    const check = () => {
      const further: Difference[] = []
      for (const difference of differencesOf(mode, from, to)) {
        if (!('problem' in difference) && !variantsOf(difference.from).every(isScalar)) further.push(difference)
        else if (this.#breaks(difference)) return false
      }
      return !further.some((difference) => this.#breaks(difference)) && this.#isExclusive(mode, from, to)
    }
    return this.#pair(`${mode} ${from.key}/${to.key}`, check)
  }

  *#differences(mode: Mode, from: Variant, to: Variant): Generator<Difference> {
    yield* differencesOf(mode, from, to)
    if (!this.#isExclusive(mode, from, to)) yield { path: '', problem: 'can match several alternatives of its oneOf' }
  }

  #breaks(difference: Difference) {
    return 'problem' in difference || !this.#fits(difference.mode, difference.from, difference.to)
  }

  // A service refuses a value that satisfies two branches of a oneOf. Values that satisfied another branch before were refused before.
  #isExclusive(mode: Mode, from: Variant, to: Variant) {
    if (!isRequest(mode)) return true
    const wasRefused = (rival: Shape, position: number) =>
      from.choices.some(({ branches, keys, index }) => {
        const branch = branches[position]
        if (keys.has(rival.key) && branches[index]?.key !== rival.key) return true
        return branch !== undefined && position !== index && this.#fits('subset', rival, branch)
      })
    return to.choices.every(({ branches, index }) => {
      const rivals = rivalsIn(branches)
      const isNoRival = (variant: Variant, position: number) =>
        position === index || areDisjoint(from, variant) || wasRefused(branches[position] as Shape, position)
      return candidatesFor(from, rivals.variants).every((one) => rivals.positions.get(one)?.every((position) => isNoRival(one, position)))
    })
  }
}

function* differencesOf(mode: Mode, from: Variant, to: Variant): Generator<Difference> {
  for (const problem of keywordProblems(mode, from, to)) yield { path: '', problem }
  yield* memberDifferences(mode, from, to)
}

const knownRivals = new WeakMap<readonly Shape[], ReturnType<typeof rivalsOf>>()

function rivalsIn(branches: readonly Shape[]) {
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

function isErrorMode(mode: Mode) {
  return mode === 'error' || mode === 'code'
}

function isScalar({ type }: Variant) {
  return type !== 'object' && type !== 'array'
}

function isOfType(one: Variant, other: Variant) {
  return one.type === other.type || (one.type === 'integer' && other.type === 'number')
}

function nameOf(reason: Difference) {
  return `${reason.path} ${'problem' in reason ? reason.problem : nameOfPair(reason)}`
}

function nameOfPair({ mode, from, to }: Comparison) {
  return `${mode} ${from.key}|${to.key}`
}

function typesIn(variants: readonly Variant[]) {
  const types = [...new Set(variants.map(({ type }) => type))]
  if (types.length === 0) return 'nothing'
  return new Set(variants.map(familyOf)).size < 6 ? types.join(' or ') : 'anything'
}
