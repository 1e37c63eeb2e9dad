import type { JsonSchema } from '@concordat/plugin-kit/json-schema'
import type { OpenapiDocument } from '../document/document.ts'
import { variantsOf } from './schema-alternatives.ts'
import { type Side, sidesOf } from './schema-identity.ts'
import { keywordProblems } from './schema-keywords.ts'
import { type Comparison, type Difference, inOrder, isRequest, type Mode, memberDifferences } from './schema-members.ts'
import { areDisjoint, candidatesFor, familyOf, rivalsIn } from './schema-overlap.ts'
import { candidatesOf, isCut, isErrorMode, isOfType, isPossible, isScalar, mostSimilar } from './schema-similarity.ts'
import { type Choice, type Shape, shapeOf, type Variant } from './schema-variant.ts'

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

// After this number of candidates or pairs, a variant is only compared with its counterpart.
const maxCandidates = 4_000_000
const maxPairs = 200_000

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
  #candidates = 0

  constructor(was: OpenapiDocument, is: OpenapiDocument, report: Report) {
    this.#sides = sidesOf(was, is)
    this.#report = report
  }

  /** Reports the incompatible changes of a schema. A missing schema accepts any value. */
  compare(mode: Mode, place: string, was: JsonSchema | undefined, is: JsonSchema | undefined): void {
    const [from, to] = inOrder(mode, shapeOf(this.#sides[0], [was]), shapeOf(this.#sides[1], [is]))
    const seen = new Set<string>()
    const differences: Difference[] = [{ path: place, mode, from, to }]
    let isReported = false
    // The loop also visits what it adds.
    for (const one of differences) {
      if ('problem' in one) {
        this.#report(one.path, one.problem)
        isReported = true
      } else if (!seen.has(nameOfPair(one))) {
        seen.add(nameOfPair(one))
        for (const reason of this.#reasons(one)) differences.push({ ...reason, path: one.path + reason.path })
      }
    }
    // All alternatives contain what only one of them lost.
    if (!isReported && differences.length > 1) this.#report(place, 'has changed in one of the alternatives that contain one another')
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
      const isUnknown = this.#isExhausted || left.some((one) => isCut(mode, one, others))
      const problem = isUnknown
        ? `has ${left.length} alternatives that could match too many others, which cannot be judged`
        : isRequest(mode)
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

  get #isExhausted() {
    return this.#candidates > maxCandidates || this.#pairs.size > maxPairs
  }

  // The counterpart of a variant is most likely at the same place.
  #isCovered(mode: Mode, one: Variant, others: readonly Variant[], index: number): boolean {
    const counterpart = others[index]
    if (counterpart !== undefined && this.#covers(mode, one, counterpart)) return true
    if (this.#isExhausted) return false
    const candidates = candidatesOf(mode, one, others)
    this.#candidates += candidates.length
    return mostSimilar(mode, one, candidates).some((other) => this.#covers(mode, one, other))
  }

  // The same branch can be in many unions, so it is compared apart from them. What can be deep is compared last.
  #covers(mode: Mode, from: Variant, to: Variant): boolean {
    if (from.key === to.key) return true
    if (!isPossible(mode, from, to) || !this.#coversBody('scalar', mode, from, to)) return false
    const isExclusive =
      !isRequest(mode) || to.choices.length === 0 || this.#pair(`exclusive ${from.key}/${to.key}`, () => this.#isExclusive(from, to))
    return isExclusive && this.#coversBody('deep', mode, from, to)
  }

  #coversBody(depth: 'scalar' | 'deep', mode: Mode, from: Variant, to: Variant): boolean {
    if (from.body === to.body) return true
    return this.#pair(`${depth} ${mode} ${from.body}/${to.body}`, () => {
      if (depth === 'scalar' && !isErrorMode(mode) && areDisjoint(from, to)) return false
      for (const difference of bodyDifferences(mode, from, to)) {
        const isDeep = !('problem' in difference) && !variantsOf(difference.from).every(isScalar)
        if (isDeep === (depth === 'deep') && this.#breaks(difference)) return false
      }
      return true
    })
  }

  *#differences(mode: Mode, from: Variant, to: Variant): Generator<Difference> {
    yield* bodyDifferences(mode, from, to)
    if (isRequest(mode) && !this.#isExclusive(from, to)) yield { path: '', problem: 'can match several alternatives of its oneOf' }
  }

  #breaks(difference: Difference) {
    return 'problem' in difference || !this.#fits(difference.mode, difference.from, difference.to)
  }

  // A service refuses a value that satisfies two branches of a oneOf. Values that satisfied another branch before were refused before.
  #isExclusive(from: Variant, to: Variant) {
    return to.choices.every(
      (choice) => from.choices.some((one) => one.index === choice.index && this.#isAligned(one, choice)) || this.#hasNoRival(from, choice)
    )
  }

  // Whether each branch has only values of the one that was at its place.
  #isAligned(from: Choice, to: Choice) {
    return this.#pair(`aligned ${from.id}/${to.id}`, () => to.branches.every((branch, position) => this.#isWithin(branch, from, position)))
  }

  #isWithin(rival: Shape, { branches }: Choice, position: number) {
    const branch = branches[position]
    return branch !== undefined && this.#fits('subset', rival, branch)
  }

  #hasNoRival(from: Variant, { branches, index }: Choice) {
    const wasBeside = ({ key }: Shape) => from.choices.some((one) => one.keys.has(key) && one.branches[one.index]?.key !== key)
    const wasRefused = (rival: Shape, position: number) =>
      from.choices.some((one) => position !== one.index && this.#isWithin(rival, one, position))
    const rivals = rivalsIn(branches)
    const isNoRival = (variant: Variant, position: number) => {
      const rival = branches[position] as Shape
      return position === index || wasBeside(rival) || areDisjoint(from, variant) || wasRefused(rival, position)
    }
    return candidatesFor(from, rivals.variants).every((one) => rivals.positions.get(one)?.every((position) => isNoRival(one, position)))
  }
}

function* bodyDifferences(mode: Mode, from: Variant, to: Variant): Generator<Difference> {
  for (const problem of keywordProblems(mode, from, to)) yield { path: '', problem }
  yield* memberDifferences(mode, from, to)
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
