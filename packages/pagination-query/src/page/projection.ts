import { orderText, valueText, wholeDigits } from '../list/value-text.ts'
import type { RowRules } from '../query/bound-collection.ts'

// The serializer would write nulls as `""` or `0` (rule F3). It cannot detect a missing field, because it must accept projected rows.
/**
 * Returns the rows with only the requested fields and without nulls that the schema does not allow. Throws a `TypeError` for a row without a required
 * field, and for a number that the serializer would round.
 */
export function projectRows<Row>(rows: readonly Row[], fields: readonly string[], { required, nullable, numbers }: RowRules): Row[] {
  return rows.map((row) => {
    const item: Record<string, unknown> = {}
    for (const name of fields) {
      const value = (row as Record<string, unknown>)[name]
      if (value !== undefined && value !== null) {
        const type = numbers.get(name)
        item[name] = type === undefined ? value : requireExact(name, type, value)
      } else if (value === null && nullable.has(name)) item[name] = value
      else if (required.has(name))
        throw new TypeError(
          `pagination-query: a row has ${String(value)} in "${name}", but the schema of the field requires a value. Return a value, or make the field optional.`
        )
    }
    return item as Row
  })
}

function requireExact(name: string, type: 'integer' | 'number', value: unknown): number | bigint {
  const exact = exactNumber(type, value)
  if (exact !== undefined) return exact
  throw new TypeError(
    `pagination-query: a row has ${String(value)} in "${name}", which is not exact as the JSON type "${type}". Declare the field as a string, with the format "${type === 'integer' ? 'int64' : 'decimal'}".`
  )
}

// A number with up to 15 digits is the same after a conversion to a number of JavaScript and back.
const fewDigits = /^-?(?=[\d.]{1,15}(?:e|$))\d+(?:\.\d+)?(?:e[+-]?\d{1,2})?$/
const plainDecimal = /^-?\d+(?:\.\d+)?$/

// Returns undefined for a value that the serializer would round, or that JSON does not have: an integer beyond ±(2⁵³−1) that the driver has already
// rounded, a fraction in an integer, a decimal with more digits than a number of JavaScript, and `NaN`.
function exactNumber(type: 'integer' | 'number', value: unknown): number | bigint | undefined {
  if (typeof value === 'number') return (type === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value)) ? value : undefined
  const text = String(value)
  if (type === 'integer') return wholeValue(text)
  return fewDigits.test(text) || isExact(text) ? Number(text) : undefined
}

// The serializer writes a bigint with all its digits.
function wholeValue(text: string) {
  const digits = wholeDigits(text)
  if (digits === undefined) return undefined
  return Number.isSafeInteger(Number(digits)) ? Number(digits) : BigInt(digits)
}

function isExact(text: string) {
  return plainDecimal.test(text) && orderText('decimal', text) === orderText('decimal', valueText('decimal', Number(text)) as string)
}
