import { isObject, type JsonSchema } from '@concordat/plugin-kit/json-schema'
import { textOf } from './schema-identity.ts'
import { inOrder, isRequest, itemOf, type Mode, positionsOf } from './schema-members.ts'
import { all, matches, memberOf, schemasByName, type Variant } from './schema-variant.ts'

// Whether a keyword of `to` excludes no value of `from`.
type Judgement = (from: Variant, to: Variant, keyword: string) => boolean

// The effect of these keywords is known only if they are equal.
const opaque = '$ref $dynamicRef allOf not if unevaluatedProperties unevaluatedItems dependentSchemas'.split(' ')
const comparedWithMembers =
  `enum const default required properties patternProperties additionalProperties propertyNames discriminator items prefixItems
  additionalItems contentSchema then else minContains maxContains readOnly writeOnly`.split(/\s+/)

const judgements = new Map<string, Judgement>([
  ...named(comparedWithMembers, () => true),
  ...named(opaque, hasEqual),
  ...named(['contains'], (from, to) => to.flats.every((flat) => !('contains' in flat) || isContained(from, to, flat))),
  ...named(['format', 'contentEncoding', 'contentMediaType'], (from, to, key) => all(to, key).every((one) => all(from, key).includes(one))),
  ...named(['minimum', 'exclusiveMinimum'], (from, to) => isBeyond(from, to, 1, 'minimum', 'exclusiveMinimum')),
  ...named(['maximum', 'exclusiveMaximum'], (from, to) => isBeyond(from, to, -1, 'maximum', 'exclusiveMaximum')),
  ...named(['minLength', 'minItems', 'minProperties'], (from, to, key) => isBeyond(from, to, 1, key)),
  ...named(['maxLength', 'maxItems', 'maxProperties'], (from, to, key) => isBeyond(from, to, -1, key)),
  ...named(['multipleOf'], (from, to, key) => all(to, key).every((step) => isMultiple(from, Number(step)))),
  ...named(['pattern'], (from, to, key) => all(to, key).every((pattern) => isMatched(from, String(pattern)))),
  ...named(['uniqueItems'], (from, to, key) => !all(to, key).includes(true) || all(from, key).includes(true)),
  ...named(['dependentRequired'], (from, to, key) =>
    to.flats.flatMap((flat) => Object.entries(schemasByName(flat, key))).every(([name, needed]) => isRequired(from, name, needed))
  )
])

function named(keywords: readonly string[], judgement: Judgement) {
  return keywords.map((keyword) => [keyword, judgement] as const)
}

/** Returns a phrase for each keyword by which values of `from` do not fit into `to`, or that cannot be judged. */
export function* keywordProblems(mode: Mode, from: Variant, given: Variant): Generator<string> {
  // An error can get a new code, which may be longer than those that clients know.
  const to = mode === 'code' ? { ...given, values: undefined } : given
  yield* valueProblems(mode, from, to)
  yield* directionProblems(mode, from, to)
  for (const keyword of new Set([from, to].flatMap(({ flats }) => flats.flatMap(Object.keys)))) {
    const judgement = judgements.get(keyword)
    const isKnown = judgement !== undefined && judgement !== hasEqual && keyword !== 'contains'
    const isCompatible = judgement === undefined ? hasEqual(from, to, keyword) && hasEqual(to, from, keyword) : judgement(from, to, keyword)
    if (!isCompatible)
      yield isKnown ? differenceIn(keyword, ...inOrder(mode, from, to)) : `its ${keyword} has changed, which cannot be judged`
  }
}

function* valueProblems(mode: Mode, from: Variant, { values }: Variant): Generator<string> {
  if (values === undefined) return
  const [known, missing] = [[...values.keys()].join(', '), [...(from.values?.keys() ?? [])].filter((one) => !values.has(one)).join(', ')]
  if (from.values === undefined) yield isRequest(mode) ? `now accepts only ${known}` : `can now be any value, but was one of ${known}`
  else if (missing !== '') yield isRequest(mode) ? `no longer accepts ${missing}` : `can now be ${missing}, which clients do not know`
}

// What a client leaves out has a meaning; what it cannot write or read any more is removed for it.
function* directionProblems(mode: Mode, from: Variant, to: Variant): Generator<string> {
  const hidden = isRequest(mode) ? 'readOnly' : 'writeOnly'
  const [old, now] = inOrder(mode, from, to)
  if (all(now, hidden).includes(true) && !all(old, hidden).includes(true)) yield `is now ${hidden}`
  if (mode !== 'request') return
  const [before, after] = [old, now].map((variant) => all(variant, 'default').map(textOf)) as [string[], string[]]
  if (before.length > 0 && before[0] !== after[0]) yield `its default was ${before[0]} and is ${after[0] ?? 'none'}`
}

function differenceIn(keyword: string, ...variants: readonly [Variant, Variant]) {
  const [old, now] = variants.map((variant) => {
    const texts = new Set(all(variant, keyword).map((value) => (typeof value === 'string' ? value : textOf(value))))
    return texts.size === 0 ? 'open' : [...texts].join(' and ')
  })
  return `its ${keyword} was ${old} and is ${now}`
}

function hasEqual(from: Variant, to: Variant, keyword: string) {
  const beside = keyword === 'if' ? ['if', 'then', 'else'] : [keyword]
  const [known, needed] = [from, to].map(({ side, flats }) =>
    flats.filter((flat) => keyword in flat).map((flat) => side.idOf(Object.fromEntries(beside.map((key) => [key, flat[key]]))))
  ) as [number[], number[]]
  return needed.every((id) => known.includes(id))
}

function isContained(from: Variant, to: Variant, { contains, minContains = 1, maxContains = Number.POSITIVE_INFINITY }: JsonSchema) {
  const isEqual = (flat: JsonSchema) => 'contains' in flat && from.side.idOf(flat['contains']) === to.side.idOf(contains)
  return from.flats.some(({ minContains: least = 1, maxContains: most = Number.POSITIVE_INFINITY, ...flat }) => {
    return isEqual(flat) && Number(least) >= Number(minContains) && Number(most) <= Number(maxContains)
  })
}

// Compares lower bounds, or upper ones with their signs changed.
function isBeyond(from: Variant, to: Variant, sign: 1 | -1, key: string, exclusiveKey = '') {
  const [[bound, isExclusive], [other, isOtherExclusive]] = [from, to].map((one) => boundOf(one, sign, key, exclusiveKey)) as [Bound, Bound]
  return bound > other || (bound === other && (isExclusive || !isOtherExclusive))
}

type Bound = readonly [bound: number, isExclusive: boolean]

function boundOf(variant: Variant, sign: 1 | -1, key: string, exclusiveKey: string): Bound {
  const numbers = (keyword: string) => all(variant, keyword).flatMap((one) => (typeof one === 'number' ? [sign * one] : []))
  const listed = variant.values && Math.min(...[...variant.values.values()].map((value) => sign * sizeOf(value)))
  const isTuple = key === 'maxItems' && itemOf(variant, positionsOf(variant)).key === 'nothing'
  const implied = [
    ...(listed === undefined ? [] : [listed]),
    ...(key === 'minProperties' ? [variant.required.size] : []),
    ...(isTuple ? [-positionsOf(variant)] : []),
    ...(sign === 1 && exclusiveKey === '' ? [0] : [])
  ]
  const [inclusive, exclusive] = [Math.max(...numbers(key), ...implied), Math.max(...numbers(exclusiveKey))]
  if (variant.type === 'integer') return [Math.max(Math.ceil(inclusive), Math.floor(exclusive) + 1), false]
  return exclusive >= inclusive ? [exclusive, true] : [inclusive, false]
}

function sizeOf(value: unknown) {
  // JSON Schema counts characters, not UTF-16 units.
  if (typeof value === 'string') return Array.from(value).length
  return isObject(value) ? Object.keys(value).length : Array.isArray(value) ? value.length : Number(value)
}

function isMultiple(from: Variant, step: number) {
  const isWhole = (value: unknown) => Math.abs(Number(value) / step - Math.round(Number(value) / step)) < 1e-9
  const steps = [...all(from, 'multipleOf'), ...(from.type === 'integer' ? [1] : [])]
  return steps.some(isWhole) || (from.values !== undefined && [...from.values.values()].every(isWhole))
}

// Patterns that match every text.
const open = ['', '^', '$', '.*', '^.*', '.*$', '[\\s\\S]*', '^[\\s\\S]*$']

function isMatched(from: Variant, pattern: string) {
  if (open.includes(pattern) || all(from, 'pattern').includes(pattern)) return true
  return from.values !== undefined && [...from.values.values()].every((value) => matches(pattern, String(value)))
}

// A client sends only declared properties, and those of a map.
function isRequired(from: Variant, name: string, needed: unknown) {
  const isSent = from.members.has(name) || !['', 'nothing'].includes(memberOf(from.side, from.flats, name).key)
  const others = from.flats.flatMap((flat) => schemasByName(flat, 'dependentRequired')[name] ?? [])
  return !isSent || !Array.isArray(needed) || needed.every((one) => from.required.has(one) || others.includes(one))
}
