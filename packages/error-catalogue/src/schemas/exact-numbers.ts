import { losesDigits, withValueBounds } from '@concordat/plugin-kit/json-schema'
import type { AnySchemaObject, FuncKeywordDefinition } from 'ajv/dist/2019.js'
import type { SchemaValidateFunction } from 'ajv/dist/types/index.js'

/** The keyword of Ajv errors for text that is not a number. */
export const textNumber = 'textNumber'

const integerText = /^-?(?:0|[1-9]\d*)$/
const numberText = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i

/**
 * Returns a copy of a schema that sets its bounds, and accepts a number only if its text has the grammar of JSON: Ajv also coerces `0x10`, ` 10` and `Infinity`, and does so
 * before it evaluates keywords beside `type`, so the keyword that reads the text is in a schema around it.
 */
export function withNumbersInText(schema: AnySchemaObject): AnySchemaObject {
  const kind = isOfType(schema, 'number') ? 'number' : isOfType(schema, 'integer') ? 'integer' : undefined
  if (kind === undefined || isOfType(schema, 'string')) return withValueBounds(schema)
  const { $id, default: preset, ...inner } = withValueBounds(schema)
  return { ...($id !== undefined && { $id }), ...(preset !== undefined && { default: preset }), [textNumber]: kind, allOf: [inner] }
}

const validate: SchemaValidateFunction = (kind: 'integer' | 'number', data: unknown) => {
  // With coerceTypes 'array', the only item of a list is coerced too.
  const text = Array.isArray(data) && data.length === 1 ? (data[0] as unknown) : data
  // Any other text fails the type, or is a value of another type.
  if (typeof text !== 'string' || text === '' || Number.isNaN(Number(text))) return true
  const isNumber = (kind === 'integer' ? integerText : numberText).test(text)
  if (isNumber && Number.isFinite(Number(text)) && !losesDigits(text)) return true
  validate.errors = [{ keyword: textNumber, params: isNumber ? {} : { type: kind } }]
  return false
}

/** The definition of the keyword {@link textNumber} for Ajv. */
export const textNumberKeyword: FuncKeywordDefinition = {
  keyword: textNumber,
  schemaType: 'string',
  before: 'allOf',
  errors: true,
  validate
}

function isOfType({ type }: AnySchemaObject, name: string): boolean {
  return type === name || (Array.isArray(type) && type.includes(name))
}
