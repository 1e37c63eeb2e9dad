import type { ValueKind } from '../operators.ts'
import { isCalendarDay } from '../query/value-reader.ts'

// The texts that a database writes. Clients may not send all of them: 1e+20, NaN, infinity, a year with five digits.
const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i
const integer = /^-?\d{1,20}$/
const decimal = /^(?:-?\d{1,400}(?:\.\d{1,400})?(?:e[+-]?\d{1,3})?|NaN|-?Infinity)$/
const date = /^\d{4,6}-\d\d-\d\d(?: BC)?$/
const time = String.raw`(?:[01]\d|2[0-4]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?`
const offset = String.raw`(?:Z|[+-](?:0\d|1[0-5])(?::?[0-5]\d){0,2})?`
const dateTime = new RegExp(String.raw`^\d{4,6}-\d\d-\d\d[T ]${time}(?: BC)?${offset}(?: BC)?$`)
const infinity = /^-?infinity$/

/**
 * Returns whether a string can be a value of this kind in a cursor. Signed cursors contain only such values; without this check, an
 * unsigned cursor could pass any text to the database.
 */
export function isKeyText(kind: ValueKind, text: string): boolean {
  switch (kind) {
    case 'uuid':
      return uuid.test(text)
    case 'integer':
      return integer.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text)
    case 'decimal':
      return decimal.test(text)
    case 'boolean':
      return /^(?:true|false|t|f)$/.test(text)
    case 'date':
      return infinity.test(text) || (date.test(text) && isCalendarDay(text))
    case 'date-time':
      // A column of dates can be declared as times.
      return infinity.test(text) || ((dateTime.test(text) || date.test(text)) && isCalendarDay(text))
    default:
      return text.isWellFormed() && !text.includes('\0')
  }
}
