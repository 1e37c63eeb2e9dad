import { isObject, type JsonSchema } from '@concordat/plugin-kit/json-schema'
import { type Operator, operatorNames, operatorOf } from '../list/operators.ts'
import { type Relations, splitRelated } from '../list/related.ts'
import type { SortKey } from '../list/sort-key.ts'
import type { ValueKind } from '../list/value-text.ts'
import { schemasUnder } from './item-members.ts'

/** A field of a resource, with the properties that matter for lists. */
export interface Field {
  readonly name: string
  /** The kind of the field's values. Undefined if they are not scalars; clients can then select the field, but not sort or filter by it. */
  readonly kind: ValueKind | undefined
  /** Whether the field can be null or absent. */
  readonly nullable: boolean
  /** The allowed values of an `enum` field; empty for other fields. */
  readonly choices: readonly string[]
  /** Whether the values are numbers in JSON, and of which type; undefined for other values, also for numbers that are strings. */
  readonly numberType: 'integer' | 'number' | undefined
  /** The maximum length of a `string` value, in characters. */
  readonly maxLength: number | undefined
}

/** Returns the field that a property of the resource's schema declares. */
export function fieldOf(name: string, schema: JsonSchema, required: boolean): Field {
  const alternatives = alternativesOf(schema)
  const values = alternatives.filter((alternative) => !isNull(alternative))
  const choices = choicesOf(values)
  const kinds = new Set(values.map(kindOf))
  const [only] = kinds
  const lengths = values.map(({ maxLength }) => (typeof maxLength === 'number' ? maxLength : Number.POSITIVE_INFINITY))
  const longest = Math.max(...lengths)
  return {
    name,
    kind: choices.length > 0 ? 'enum' : kinds.size === 1 ? only : undefined,
    nullable: !required || values.length < alternatives.length || alternatives.some(({ nullable }) => nullable === true),
    choices,
    numberType: numberTypeOf(schema),
    maxLength: Number.isFinite(longest) ? longest : undefined
  }
}

/** Returns the field of a filter: one of the resource, or one of a relation under its full name, such as `customer.country`. */
export function filterFieldOf(name: string, fields: ReadonlyMap<string, Field>, relations: Relations): Field | undefined {
  const [relation = '', field = ''] = splitRelated(name, relations) ?? []
  // Every collection has whole fields.
  const related = relations.get(relation)?.target.fields.get(field) as Field | undefined
  return related === undefined ? fields.get(name) : { ...related, name }
}

/** Returns the kinds of the fields with scalar values, by name. */
export function kindsOf(fields: ReadonlyMap<string, Pick<Field, 'kind'>>): Readonly<Record<string, ValueKind>> {
  return Object.fromEntries([...fields].flatMap(([name, { kind }]) => (kind === undefined ? [] : [[name, kind]])))
}

/** Returns the type to which SQL converts a field of strings with numbers, or of lists of them; undefined for another field. */
export function numberTextOf(schema: JsonSchema): 'text' | 'text[]' | undefined {
  const values = alternativesOf(schema).filter((one) => !isNull(one))
  if (values.length > 0 && values.every(isNumberText)) return 'text'
  const items = values.map((one) => (one['type'] === 'array' ? (one['items'] as JsonSchema | undefined) : undefined))
  return items.length > 0 && items.every((one) => isObject(one) && numberTextOf(one) !== undefined) ? 'text[]' : undefined
}

function isNumberText({ type, ...text }: JsonSchema) {
  return type === 'string' && /^(?:integer|decimal)$/.test(kindOfText(text))
}

/** Returns the type of the numbers that a schema allows, or undefined if it also allows other values than numbers and null. */
export function numberTypeOf(schema: JsonSchema): 'integer' | 'number' | undefined {
  const kinds = alternativesOf(schema)
    .filter((alternative) => !isNull(alternative))
    .map(({ type, const: constant }) => type ?? (typeof constant === 'number' ? 'number' : undefined))
  const isNumber = kinds.length > 0 && kinds.every((type) => type === 'integer' || type === 'number')
  return isNumber ? (kinds.includes('number') ? 'number' : 'integer') : undefined
}

/** Returns the format of a schema if it is that of a date or a time. */
export function dayFormatOf(schema: JsonSchema | undefined): 'date' | 'date-time' | undefined {
  const format = schema?.['format']
  return format === 'date' || format === 'date-time' ? format : undefined
}

/** Returns whether a schema allows null. It returns true if the schema does not say. */
export function allowsNull(schema: JsonSchema): boolean {
  return alternativesOf(schema).some((one) => isNull(one) || one['nullable'] === true || !('type' in one || 'const' in one))
}

/** Returns the alternatives of a schema: the branches of a union, the types in a list of types, or the values of an enum. */
export function alternativesOf(schema: JsonSchema): readonly JsonSchema[] {
  const branches = [...schemasUnder(schema, 'anyOf'), ...schemasUnder(schema, 'oneOf')]
  if (branches.length > 0) return branches.flatMap(alternativesOf)
  const { type } = schema
  if (Array.isArray(schema['enum'])) return schema['enum'].map((value: unknown) => ({ const: value, nullable: schema['nullable'] }))
  if (Array.isArray(type)) return type.map((one: unknown) => ({ ...schema, type: one }))
  return [schema]
}

/** Returns whether a schema allows only null. */
export function isNull(schema: JsonSchema) {
  return schema['type'] === 'null' || schema['const'] === null
}

function choicesOf(values: readonly JsonSchema[]): readonly string[] {
  const constants = values.map((value) => value['const'])
  return constants.every((constant) => typeof constant === 'string') ? [...new Set(constants)] : []
}

function kindOf(schema: JsonSchema): ValueKind | undefined {
  const { type, const: constant } = schema
  if (type === 'boolean' || typeof constant === 'boolean') return 'boolean'
  if (type === 'integer' || Number.isInteger(constant)) return 'integer'
  if (type === 'number' || typeof constant === 'number') return 'decimal'
  return type === 'string' ? kindOfText(schema) : undefined
}

function kindOfText({ format, pattern }: JsonSchema): ValueKind {
  if (format === 'uuid' || format === 'date' || format === 'date-time' || format === 'decimal') return format
  if (format === 'int64') return 'integer'
  return typeof pattern === 'string' && decimalPattern.test(pattern) ? 'decimal' : 'string'
}

// Matches patterns that only decimal numbers with a fraction match, such as ^-?\d{1,18}(\.\d{2})?$. Without a fraction, the
// digits may be a postal code, in which leading zeros are significant.
const digits = String.raw`(?:\\d|\[0-9\])(?:[*+]|\{\d+(?:,\d*)?\})?`
const whole = String.raw`(?:${digits}|\((?:\?:)?0\|\[1-9\](?:${digits})?\))`
const fraction = String.raw`(?:\\\.${digits}|\((?:\?:)?\\\.${digits}\)\??)`
const decimalPattern = new RegExp(String.raw`^\^(?:-\??)?${whole}${fraction}\$$`)

/** Returns the operators that a field allows, and those that it allows by default (rule Q6). */
export function operatorsOf({ kind, nullable }: Field): { readonly allowed: readonly Operator[]; readonly byDefault: readonly Operator[] } {
  const allowed = operatorNames.filter((name) => {
    const { kinds, needsNull } = operatorOf[name]
    return kind !== undefined && kinds.includes(kind) && (nullable || !needsNull)
  })
  return { allowed, byDefault: allowed.filter((name) => !operatorOf[name].optIn) }
}

/** Returns the name of a sort key without its direction. */
export function nameOfKey(key: string): string {
  return key.startsWith('-') ? key.slice(1) : key
}

// Without the identifier, rows with equal keys have no defined order, and pages lose or repeat them. Keys after it have no effect.
/** Returns the total order that sort keys define, which ends with the identifier, in the direction of the last key. */
export function orderOf(keys: readonly string[], id: string, fields: ReadonlyMap<string, Field>): readonly SortKey[] {
  const order: SortKey[] = []
  for (const key of keys) {
    order.push(sortKey(nameOfKey(key), key.startsWith('-')))
    if (nameOfKey(key) === id) return order
  }
  return [...order, sortKey(id, order.at(-1)?.descending ?? false)]

  function sortKey(name: string, descending: boolean): SortKey {
    const { kind, nullable } = fields.get(name) as Field & { kind: SortKey['kind'] }
    return { field: name, kind, nullable: nullable && name !== id, descending }
  }
}
