import type { ValueKind } from '../operators.ts'
import { type JsonSchema, schemasUnder } from './item-members.ts'

/** A member of a resource, as far as lists are concerned. */
export interface Field {
  readonly name: string
  /** Undefined when its values are no scalars: it can be projected, but neither sorted nor filtered by. */
  readonly kind: ValueKind | undefined
  /** It may be null or left out. */
  readonly nullable: boolean
  /** The values of an `enum`. */
  readonly choices: readonly string[]
  /** The longest value of a `string`, in characters. */
  readonly maxLength: number | undefined
}

/** Reads what the values of a member are from its schema. */
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
    maxLength: Number.isFinite(longest) ? longest : undefined
  }
}

/** Whether a member may be null; true when its schema does not tell. */
export function allowsNull(schema: JsonSchema): boolean {
  return alternativesOf(schema).some((one) => isNull(one) || one['nullable'] === true || !('type' in one || 'const' in one))
}

// A union is as many alternatives as it has branches, a list of types as many as it has types, an enum as many as values.
function alternativesOf(schema: JsonSchema): readonly JsonSchema[] {
  const branches = [...schemasUnder(schema, 'anyOf'), ...schemasUnder(schema, 'oneOf')]
  if (branches.length > 0) return branches.flatMap(alternativesOf)
  const { type } = schema
  if (Array.isArray(schema['enum'])) return schema['enum'].map((value: unknown) => ({ const: value, nullable: schema['nullable'] }))
  if (Array.isArray(type)) return type.map((one: unknown) => ({ ...schema, type: one }))
  return [schema]
}

function isNull(schema: JsonSchema) {
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
  return typeof pattern === 'string' && decimalPattern.test(pattern) ? 'decimal' : 'string'
}

// Matches patterns that only decimal numbers with a fraction match, such as ^-?\d{1,18}(\.\d{2})?$. Without a fraction the
// digits may be a postal code, whose zeros at the beginning count.
const digits = String.raw`(?:\\d|\[0-9\])(?:[*+]|\{\d+(?:,\d*)?\})?`
const whole = String.raw`(?:${digits}|\((?:\?:)?0\|\[1-9\](?:${digits})?\))`
const fraction = String.raw`(?:\\\.${digits}|\((?:\?:)?\\\.${digits}\)\??)`
const decimalPattern = new RegExp(String.raw`^\^(?:-\??)?${whole}${fraction}\$$`)
