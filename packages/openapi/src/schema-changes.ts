import type { JsonSchema } from '@concordat/json-schema'
import type { OpenapiDocument } from './document.ts'
import { variantsOf } from './schema-alternatives.ts'
import { type Side, sidesOf } from './schema-identity.ts'
import { keywordProblems } from './schema-keywords.ts'
import { type Difference, inOrder, isRequest, type Mode, memberDifferences } from './schema-members.ts'
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

interface Comparison {
  readonly mode: Mode
  readonly place: string
  readonly from: Shape
  readonly to: Shape
}

/**
 * Compares the schemas of two documents (rule V3). The service must still accept what a client sends, so the schema of a request may only become
 * wider. Clients must still understand what they read, so the schema of a response may only become narrower. Both must keep declared properties.
 */
export class SchemaComparison {
  readonly #sides: readonly [Side, Side]
  readonly #report: Report
  readonly #pairs = new Map<string, Pair>()
  readonly #unchecked: Pair[] = []
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
    const comparisons: Comparison[] = [{ mode, place, from, to }]
    // The loop also visits what it adds.
    for (const one of comparisons) {
      const pair = `${one.mode} ${one.from.key}|${one.to.key}`
      if (seen.has(pair) || this.#settled(() => this.#fits(one.mode, one.from, one.to))) continue
      seen.add(pair)
      comparisons.push(...this.#explain(one))
    }
  }

  // Reports why a shape does not fit into another, and returns the members that are the reason.
  #explain({ mode, place, from, to }: Comparison): readonly Comparison[] {
    const [some, others] = [variantsOf(from), variantsOf(to)]
    const lost = this.#settled(() => some.filter((one, index) => !this.#isCovered(mode, one, others, index)))
    const isOfKnownType = (one: Variant) => others.some((other) => isOfType(one, other))
    if (!lost.every(isOfKnownType)) {
      const [old, now] = inOrder(mode, some, others)
      this.#report(place, `its type was ${typesIn(old)} and is ${typesIn(now)}`)
    }
    return [...Map.groupBy(lost.filter(isOfKnownType), familyOf)].flatMap(([family, left]) => {
      const [before, after] = [some, others].map((variants) => variants.filter((one) => familyOf(one) === family)) as [Variant[], Variant[]]
      const reasons = this.#settled(() => this.#commonReasons(mode, left, before, after))
      if (reasons.length === 0) {
        const text = isRequest(mode)
          ? `no longer accepts ${left.length} of its ${before.length} alternatives`
          : `has ${left.length} alternatives that clients do not know`
        this.#report(place, text)
      }
      return reasons.flatMap((reason) => {
        if (!('problem' in reason)) return [{ ...reason, place: place + reason.path }]
        this.#report(place + reason.path, reason.problem)
        return []
      })
    })
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
    return this.#pair(`${mode} ${from.key}|${to.key}`, check)
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
    const check = () => {
      const further: Difference[] = []
      for (const difference of this.#differences(mode, from, to)) {
        if (!('problem' in difference) && !variantsOf(difference.from).every(isScalar)) further.push(difference)
        else if (this.#breaks(difference)) return false
      }
      return !further.some((difference) => this.#breaks(difference))
    }
    return this.#pair(`${mode} ${from.key}/${to.key}`, check)
  }

  *#differences(mode: Mode, from: Variant, to: Variant): Generator<Difference> {
    for (const problem of keywordProblems(mode, from, to)) yield { path: '', problem }
    yield* memberDifferences(mode, from, to)
    if (isRequest(mode) && !this.#isExclusive(from, to)) yield { path: '', problem: 'can match several alternatives of its oneOf' }
  }

  #breaks(difference: Difference) {
    return 'problem' in difference || !this.#fits(difference.mode, difference.from, difference.to)
  }

  // A service refuses a value that satisfies two branches of a oneOf. Values that satisfied another branch before were refused before.
  #isExclusive(from: Variant, to: Variant) {
    const wasRefused = (rival: Shape, position: number) =>
      from.choices.some(({ branches, keys, index }) => {
        const branch = branches[position]
        if (keys.has(rival.key) && branches[index]?.key !== rival.key) return true
        return branch !== undefined && position !== index && this.#fits('subset', rival, branch)
      })
    return to.choices.every(({ branches, index }) => {
      const rivals = rivalsIn(branches)
      return candidatesFor(from, rivals.variants).every((rival) => {
        const position = rivals.positions.get(rival) as number
        return position === index || areDisjoint(from, rival) || wasRefused(branches[position] as Shape, position)
      })
    })
  }
}

const knownRivals = new WeakMap<readonly Shape[], ReturnType<typeof rivalsOf>>()

function rivalsIn(branches: readonly Shape[]) {
  const rivals = knownRivals.get(branches) ?? rivalsOf(branches)
  knownRivals.set(branches, rivals)
  return rivals
}

function rivalsOf(branches: readonly Shape[]) {
  const positions = new Map(branches.flatMap((branch, position) => variantsOf(branch).map((variant) => [variant, position] as const)))
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
  return 'problem' in reason ? `${reason.path} ${reason.problem}` : `${reason.path} ${reason.mode} ${reason.from.key}|${reason.to.key}`
}

function typesIn(variants: readonly Variant[]) {
  const types = [...new Set(variants.map(({ type }) => type))]
  if (types.length === 0) return 'nothing'
  return new Set(variants.map(familyOf)).size < 6 ? types.join(' or ') : 'anything'
}
