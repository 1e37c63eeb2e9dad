import type { Params } from '@concordat/plugin-kit/texts'
import type { Field } from '../declaration/field.ts'
import { maxListItems, maxTextLength } from '../declaration/parameter-objects.ts'
import type { FieldMessage } from '../errors.ts'
import type { Condition } from '../list/list-query.ts'
import { operatorOf } from '../list/operators.ts'
import { isCalendarDay, type ValueKind } from '../list/value-text.ts'
import type { Parameter } from './bound-collection.ts'
import { splitList } from './query-string.ts'

type FilterParameter = Extract<Parameter, { role: 'filter' }>

/** The reason why a value is invalid: the key of a message and its params. */
export interface Refusal {
  readonly key: FieldMessage
  readonly params?: Params | undefined
}

/** Returns the condition for a filter, or the reason why its value is invalid. */
export function conditionOf({ field, anyOf, operator, list }: FilterParameter, text: string): Condition | Refusal {
  const kind = field.kind as ValueKind
  const named = { field: field.name, ...(anyOf && { anyOf }) }
  if (list) {
    const value = readList(field, text)
    return Array.isArray(value) ? { ...named, kind, operator, value } : (value as Refusal)
  }
  const kindOfText = operatorOf[operator].takes === 'flag' ? 'boolean' : kind
  const refusal = refusalOf({ ...field, kind: kindOfText }, text)
  if (refusal !== undefined) return refusal
  if (operator === 'contains' && !hasTrigram.test(text)) return { key: 'notSearchable' }
  return { ...named, kind, operator, value: kindOfText === 'boolean' ? text === 'true' : canonical(kind, text) }
}

function readList(field: Field, text: string): readonly string[] | Refusal {
  const items = splitList(text)
  if (items.length > maxListItems) return { key: 'tooManyItems', params: { max: maxListItems } }
  const values: string[] = []
  for (const item of items) {
    const refusal: Refusal | undefined = item === '' ? { key: 'emptyItem' } : refusalOf(field, item)
    if (refusal !== undefined) return refusal
    const value = canonical(field.kind as ValueKind, item)
    if (!values.includes(value)) values.push(value)
  }
  return values
}

// Databases compare UUIDs as numbers; in lower case, a comparison as text has the same result.
function canonical(kind: ValueKind, text: string) {
  return kind === 'uuid' ? text.toLowerCase() : text
}

// An index of trigrams finds only terms that contain one. PostgreSQL would read all rows for others.
const hasTrigram = /[\p{L}\p{Nd}]{3}/u
const uuid = /^[\da-fA-F]{8}-[\da-fA-F]{4}-[\da-fA-F]{4}-[\da-fA-F]{4}-[\da-fA-F]{12}$/
const integer = /^-?(?:0|[1-9]\d{0,18})$/
const decimal = /^-?\d{1,30}(?:\.\d{1,30})?$/
const date = /^\d{4}-\d\d-\d\d$/
// Databases accept these offsets. A leap second has no place in the order of times.
const dateTime = /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?(?:Z|[+-](?:0\d|1[0-5]):[0-5]\d)$/

// Returns the reason why a text is not a value of the field, or undefined if it is valid. Nothing is corrected, neither blanks nor
// exponents. Numbers and times are validated but never converted, so that no digit is lost.
function refusalOf({ kind, choices, maxLength = maxTextLength }: Field, text: string): Refusal | undefined {
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
