import type { Params } from '@concordat/api-error'
import type { Field } from '../declaration/field.ts'
import type { FieldMessage } from '../errors.ts'

/** The reason why a value is invalid: the key of a message and its params. */
export interface Refusal {
  readonly key: FieldMessage
  readonly params?: Params | undefined
}

const uuid = /^[\da-fA-F]{8}-[\da-fA-F]{4}-[\da-fA-F]{4}-[\da-fA-F]{4}-[\da-fA-F]{12}$/
const integer = /^-?(?:0|[1-9]\d{0,18})$/
const decimal = /^-?\d{1,30}(?:\.\d{1,30})?$/
const date = /^\d{4}-\d\d-\d\d$/
// Databases accept these offsets. A leap second has no place in the order of times.
const dateTime = /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?(?:Z|[+-](?:0\d|1[0-5]):[0-5]\d)$/
const longestText = 1024

/**
 * Returns the reason why a text is not a value of the field, or undefined if it is valid. Nothing is corrected, neither blanks nor
 * exponents. Numbers and times are validated but never converted, so that no digit is lost.
 */
export function refusalOf({ kind, choices, maxLength = longestText }: Field, text: string): Refusal | undefined {
  switch (kind) {
    case 'uuid':
      return uuid.test(text) ? undefined : { key: 'notUuid' }
    case 'integer':
      return isInteger(text) ? undefined : { key: 'notInteger' }
    case 'decimal':
      return decimal.test(text) ? undefined : { key: 'notDecimal' }
    case 'date':
      return date.test(text) && isCalendarDay(text) ? undefined : { key: 'notDate' }
    case 'date-time':
      return dateTime.test(text) && isCalendarDay(text) ? undefined : { key: 'notDateTime' }
    case 'boolean':
      return text === 'true' || text === 'false' ? undefined : { key: 'notOneOf', params: { allowed: 'true, false' } }
    case 'enum':
      return choices.includes(text) ? undefined : { key: 'notOneOf', params: { allowed: choices.join(', ') } }
    default:
      return refusalOfText(text, maxLength)
  }
}

// As in JSON Schema, the length is the number of code points.
function refusalOfText(text: string, maxLength: number): Refusal | undefined {
  if (text.includes('\0')) return { key: 'hasNul' }
  const fits = text.length <= maxLength || (text.length <= 2 * maxLength && Array.from(text).length <= maxLength)
  return fits ? undefined : { key: 'tooLong', params: { max: maxLength } }
}

// The limit is 64 bits, the range of a database integer, which is more than a JavaScript number can represent.
function isInteger(text: string) {
  if (!integer.test(text)) return false
  return text.length < 19 || BigInt.asIntN(64, BigInt(text)) === BigInt(text)
}

const daysOfMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** Returns whether a text starts with a valid calendar day, such as 2026-01-31. The year may have more than four digits. */
export function isCalendarDay(text: string): boolean {
  const end = text.indexOf('-')
  const year = Number(text.slice(0, end))
  const month = twoDigits(text, end + 1)
  const day = twoDigits(text, end + 4)
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const days = month === 2 && leap ? 29 : daysOfMonth[month - 1]
  return year > 0 && days !== undefined && day > 0 && day <= days
}

function twoDigits(text: string, start: number) {
  return (text.charCodeAt(start) - 48) * 10 + text.charCodeAt(start + 1) - 48
}
