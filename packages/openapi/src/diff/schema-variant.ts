import { isObject, type JsonSchema, typeOfJson } from '@concordat/plugin-kit/json-schema'
import { propertiesOf, requiredOf, typesOf } from '../document/schema-parts.ts'
import { isAnnotation, type Side, textOf } from './schema-identity.ts'

/** What several schemas require together. Shapes with the same key require the same. */
export interface Shape {
  readonly key: string
  readonly side: Side
  readonly parts: readonly unknown[]
}

/** The branches of a `oneOf`, and which of them a variant is from. */
export interface Choice {
  readonly id: number
  readonly branches: readonly Shape[]
  readonly keys: ReadonlySet<string>
  readonly index: number
}

/** Values of one type that satisfy several schemas. `integer` is a type of its own. */
export interface Variant {
  readonly key: string
  /** The key without the choices. Variants of different unions can have the same one. */
  readonly body: string
  readonly side: Side
  readonly type: string
  /** The schemas, with only the keywords that matter for the type: none of `$ref`, `allOf`, `anyOf`, `oneOf`. */
  readonly flats: readonly JsonSchema[]
  readonly choices: readonly Choice[]
  /** The possible values by their texts, unless any value of the type is possible. */
  readonly values: ReadonlyMap<string, unknown> | undefined
  readonly required: ReadonlySet<string>
  /** The declared properties, except those that are forbidden. */
  readonly members: ReadonlyMap<string, Shape>
}

const keywordsOf: Readonly<Record<string, readonly string[]>> = {
  object: `properties patternProperties additionalProperties unevaluatedProperties propertyNames required minProperties maxProperties
    dependentRequired dependentSchemas discriminator`.split(/\s+/),
  array: 'items prefixItems additionalItems unevaluatedItems minItems maxItems uniqueItems contains minContains maxContains'.split(' '),
  string: 'minLength maxLength pattern format contentEncoding contentMediaType contentSchema'.split(' '),
  number: 'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf format'.split(' '),
  boolean: [],
  null: []
}
const keywordsOfTypes = new Set(Object.values(keywordsOf).flat())

/** Returns what schemas require together. The key is `''` when any value satisfies them, and `nothing` when none does. */
export function shapeOf(side: Side, schemas: readonly unknown[]): Shape {
  if (schemas.includes(false)) return { key: 'nothing', side, parts: [false] }
  const parts = new Map(schemas.map((schema) => [side.idOf(schema), schema]))
  parts.delete(side.idOf(true))
  return { key: [...parts.keys()].toSorted().join(' '), side, parts: [...parts.values()] }
}

type Body = Omit<Variant, 'key' | 'choices'>

const knownBodies = new WeakMap<Side, Map<string, readonly Body[]>>()

/** Returns the variants of schemas without references and unions, one for each type. */
export function variantsByType(side: Side, schemas: readonly JsonSchema[], choices: readonly Choice[]): readonly Variant[] {
  const known = knownBodies.get(side) ?? new Map<string, readonly Body[]>()
  knownBodies.set(side, known)
  const parts = schemas.map(side.idOf).join(' ')
  const bodies = known.get(parts) ?? bodiesByType(side, schemas)
  known.set(parts, bodies)
  const chosen = choices.map(({ id, branches, index }) => ` ${id}:${branches[index]?.key}`).join('')
  return bodies.map((one) => ({ ...one, choices, key: one.body + chosen }))
}

function bodiesByType(side: Side, schemas: readonly JsonSchema[]): readonly Body[] {
  const named = schemas.map(typesOf).filter((types) => types.length > 0)
  const types = new Set([...Object.keys(keywordsOf), ...named.flat().filter((type) => type !== 'integer')])
  return [...types].flatMap((type) => {
    if (!named.every((one) => one.includes(type) || (type === 'number' && one.includes('integer')))) return []
    const isInteger =
      type === 'number' && (named.some((one) => !one.includes(type)) || schemas.some(({ multipleOf }) => Number.isInteger(multipleOf)))
    const name = isInteger ? 'integer' : type
    const unique = new Map(schemas.map((schema) => relevant(schema, type)).map((flat) => [side.idOf(flat), flat]))
    unique.delete(side.idOf(true))
    const flats = [...unique.values()]
    const values = valuesOf(flats, type)
    if (values?.size === 0) return []
    const body = [name, ...unique.keys()].join(' ')
    const names = new Set(flats.flatMap((flat) => Object.keys(propertiesOf(flat))))
    const members = new Map(
      [...names].map((name) => [name, memberOf(side, flats, name)] as const).filter(([, { key }]) => key !== 'nothing')
    )
    const required = new Set(flats.flatMap(requiredOf))
    return [{ body, side, type: name, flats, values, required, members }]
  })
}

/** Returns what schemas require of a property. */
export function memberOf(side: Side, flats: readonly JsonSchema[], name: string): Shape {
  const schemas = flats.flatMap((flat) => {
    const properties = propertiesOf(flat)
    const patterns = Object.entries(schemasByName(flat, 'patternProperties')).filter(([pattern]) => matches(pattern, name))
    const declared = [...(Object.hasOwn(properties, name) ? [properties[name]] : []), ...patterns.map(([, schema]) => schema)]
    return declared.length > 0 ? declared : [flat['additionalProperties']]
  })
  return shapeOf(side, schemas)
}

/** Returns the values of a keyword in the schemas of a variant. */
export function all(variant: Variant, keyword: string): readonly unknown[] {
  return variant.flats.flatMap((flat) => (Object.hasOwn(flat, keyword) ? [flat[keyword]] : []))
}

/** Returns the schemas in the object under a keyword. */
export function schemasByName(schema: JsonSchema, keyword: string): Readonly<Record<string, unknown>> {
  return isObject(schema[keyword]) ? schema[keyword] : {}
}

/** Returns whether a text matches a regular expression of JSON Schema. An invalid one matches nothing. */
export function matches(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(text)
  } catch {
    return false
  }
}

function relevant(schema: JsonSchema, type: string): JsonSchema {
  const isRelevant = (key: string) => key !== 'type' && !isAnnotation(key) && (keywordsOf[type]?.includes(key) || !keywordsOfTypes.has(key))
  return Object.fromEntries(Object.entries(schema).filter(([key]) => isRelevant(key)))
}

function valuesOf(flats: readonly JsonSchema[], type: string) {
  const lists = flats.flatMap((flat) => [
    ...('const' in flat ? [[flat['const']]] : []),
    ...(Array.isArray(flat['enum']) ? [flat['enum']] : [])
  ])
  if (type === 'null') lists.push([null])
  if (type === 'boolean') lists.push([true, false])
  const [first, ...others] = lists.map(
    (list) => new Map(list.filter((value) => typeOfJson(value) === type).map((value) => [textOf(value), value]))
  )
  return first && new Map([...first].filter(([text]) => others.every((other) => other.has(text))))
}
