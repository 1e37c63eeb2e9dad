import { isObject, type JsonSchema } from '@concordat/plugin-kit/json-schema'
import { isAnnotation, resolve, type Side, textOf } from './schema-identity.ts'
import { type Choice, type Shape, shapeOf, type Variant, variantsByType } from './schema-variant.ts'

interface Alternative {
  readonly flats: readonly JsonSchema[]
  readonly choices: readonly Choice[]
  /** Whether a value can also satisfy another alternative, of an `anyOf`. */
  readonly overlaps: boolean
}

interface Known {
  readonly alternatives: Map<number, readonly Alternative[]>
  readonly variants: Map<string, readonly Variant[]>
}

const everything: Alternative = { flats: [], choices: [], overlaps: false }
const maxAlternatives = 1000
const tooMany = Array.from({ length: maxAlternatives + 1 }, () => everything)
const knownOf = new WeakMap<Side, Known>()

/** Returns the variants of a shape. A value of the shape satisfies one of them, and no other branch of the choices of this one. */
export function variantsOf({ side, key, parts }: Shape): readonly Variant[] {
  const { variants } = known(side)
  let found = variants.get(key)
  if (found === undefined) {
    const product = parts.map((part) => alternativesOf(side, part)).reduce(productOf, [everything])
    const alternatives = judged(product, parts)
    const all = alternatives.flatMap(({ flats, choices }) => variantsByType(side, flats, choices))
    found = [...new Map(all.map((variant) => [variant.key, variant])).values()]
    variants.set(key, found)
  }
  return found
}

function known(side: Side): Known {
  const one = knownOf.get(side) ?? { alternatives: new Map(), variants: new Map() }
  knownOf.set(side, one)
  return one
}

function alternativesOf(side: Side, schema: unknown): readonly Alternative[] {
  if (schema === false) return []
  if (!isObject(schema)) return [everything]
  const { alternatives } = known(side)
  const id = side.idOf(schema)
  const found = alternatives.get(id)
  if (found !== undefined) return found
  // A schema that contains itself adds nothing to itself.
  alternatives.set(id, [everything])
  const computed = expanded(side, schema)
  alternatives.set(id, computed)
  return computed
}

function expanded(side: Side, schema: JsonSchema): readonly Alternative[] {
  const { $ref, allOf, anyOf, oneOf, unevaluatedProperties: _properties, unevaluatedItems: _items, ...rest } = schema
  const target = resolve(side.document, $ref)
  const own = { ...rest, ...($ref !== undefined && target === undefined && { $ref }) }
  const factors = [
    [{ ...everything, flats: [own] }],
    ...[target, ...(Array.isArray(allOf) ? allOf : [])].map((part) => alternativesOf(side, part)),
    ...(Array.isArray(anyOf) ? [unionOf(side, anyOf)] : []),
    ...(Array.isArray(oneOf) ? [unionOf(side, oneOf, side.idOf({ oneOf }))] : [])
  ]
  const alternatives = judged(factors.reduce(productOf), [schema])
  return alternatives.map((one) => ({ ...one, flats: [...one.flats, ...unevaluatedIn(schema, one)] }))
}

// What has too many alternatives is compared by its text only.
function judged(alternatives: readonly Alternative[], parts: readonly unknown[]) {
  return alternatives.length > maxAlternatives ? [{ ...everything, flats: [{ allOf: parts }] }] : alternatives
}

function productOf(some: readonly Alternative[], others: readonly Alternative[]): readonly Alternative[] {
  if (some.length * others.length > maxAlternatives) return tooMany
  return some.flatMap((one) =>
    others.map((other) => ({
      // The parts of an `allOf` can have the same parts, at each of many levels.
      flats: [...new Set([...one.flats, ...other.flats])],
      choices: [...new Set([...one.choices, ...other.choices])],
      overlaps: one.overlaps || other.overlaps
    }))
  )
}

function unionOf(side: Side, schemas: readonly unknown[], oneOf?: number): readonly Alternative[] {
  const list = withOneEnumeration(schemas)
  const branches = list.map((branch) => shapeOf(side, [branch]))
  const keys = new Set(branches.map(({ key }) => key))
  return list.flatMap((branch, index) =>
    alternativesOf(side, branch).map((one) => ({
      ...one,
      ...(oneOf === undefined ? { overlaps: true } : { choices: [...one.choices, { id: oneOf, branches, keys, index }] })
    }))
  )
}

// Constants that are described one by one are an enumeration.
function withOneEnumeration(branches: readonly unknown[]): readonly unknown[] {
  const constants = branches.filter(isConstant)
  const values = new Map(constants.map((one) => [textOf(one['const']), one['const']]))
  if (constants.length < 2 || values.size < constants.length) return branches
  return [...branches.filter((one) => !isConstant(one)), { enum: [...values.values()] }]
}

// Names and positions that no keyword beside `unevaluatedProperties` or `unevaluatedItems` evaluates are additional. Where the evaluation depends on
// the value, the whole schema is compared by its text.
function unevaluatedIn(schema: JsonSchema, { flats, overlaps }: Alternative): readonly JsonSchema[] {
  const depends = overlaps || flats.some((flat) => ['if', 'dependentSchemas', 'contains', '$ref', '$dynamicRef'].some((key) => key in flat))
  const open = (keyword: string, evaluating: string) => keyword in schema && !flats.some((flat) => evaluating in flat)
  const namesOf = (key: string) => Object.fromEntries(flats.flatMap((flat) => Object.keys(flat[key] ?? {})).map((name) => [name, true]))
  const found: JsonSchema[] = []
  if (open('unevaluatedProperties', 'additionalProperties')) {
    const { unevaluatedProperties } = schema
    const declared = { properties: namesOf('properties'), patternProperties: namesOf('patternProperties') }
    found.push(depends ? { unevaluatedProperties: schema } : { ...declared, additionalProperties: unevaluatedProperties })
  }
  if (open('unevaluatedItems', 'items')) {
    const { unevaluatedItems: items } = schema
    const positions = Math.max(...flats.map(({ prefixItems }) => (Array.isArray(prefixItems) ? prefixItems.length : 0)))
    found.push(depends ? { unevaluatedItems: schema } : { prefixItems: Array.from({ length: positions }, () => true), items })
  }
  return found
}

function isConstant(schema: unknown): schema is JsonSchema {
  return isObject(schema) && 'const' in schema && Object.keys(schema).every((key) => isAnnotation(key) || key === 'const' || key === 'type')
}
