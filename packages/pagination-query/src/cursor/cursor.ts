import { hash } from 'node:crypto'
import { maxCursorLength } from '../declaration/parameter-objects.ts'
import type { Key, ListQuery, SortKey } from '../list/list-query.ts'
import { isCalendarDay, type ValueKind } from '../list/value-text.ts'
import type { CursorKeys } from './keys.ts'
import { openToken, sealToken } from './token.ts'

/** The position where a page begins, and the direction in which it is read. */
export interface Position {
  readonly reverse: boolean
  /** Whether the page includes the row that the key identifies. */
  readonly inclusive: boolean
  /** Undefined for the beginning or the end of the list. */
  readonly key: Key | undefined
  /** The number of items before the position, counted over the pages that the client has read; undefined if unknown. */
  readonly before: number | undefined
}

/** The content of a cursor: a position, and the list that it belongs to. */
export interface Cursor extends Position {
  readonly fingerprint: string
  /** The time of issue, in seconds since the Unix epoch; 0 if cursors do not expire. */
  readonly issuedAt: number
}

/** Encodes a cursor as a string. With `secret`, it is encrypted, so that only this service can read its values. */
export function writeCursor(cursor: Cursor, keys: CursorKeys, secret: boolean): string {
  const { reverse, inclusive, before, key, fingerprint, issuedAt } = cursor
  const flags = (reverse ? 1 : 0) + (inclusive ? 2 : 0) + (before === undefined ? 0 : 4)
  const token = sealToken(JSON.stringify([flags, fingerprint, issuedAt, before ?? [], key ?? []].flat()), keys, secret)
  if (token.length > maxCursorLength)
    throw new TypeError(
      `pagination-query: a sort key of a row is too long for a cursor of ${maxCursorLength} characters. Enforce the maxLength of the schema on the rows.`
    )
  return token
}

/** Decodes a cursor; returns undefined if it is malformed or fails verification. */
export function readCursor(token: string, keys: CursorKeys, secret: boolean): Cursor | undefined {
  if (token.length > maxCursorLength) return undefined
  const payload = openToken(token, keys, secret)
  if (payload === undefined) return undefined
  // Only this service can have written the payload.
  const [flags, fingerprint, issuedAt, ...others] = JSON.parse(payload) as [number, string, number, ...unknown[]]
  // A list that is not counted does not tell it for each page.
  const before = flags >= 4 ? (others.shift() as number) : undefined
  const key = others.length === 0 ? undefined : (others as string[])
  return { reverse: flags % 2 === 1, inclusive: flags % 4 >= 2, before, fingerprint, issuedAt, key }
}

/** Returns whether a key fits this order: each value has the kind of its sort key, and is null only if the key is nullable. */
export function fitsOrder(key: Key, order: readonly SortKey[]): boolean {
  return (
    key.length === order.length &&
    order.every(({ kind, nullable }, index) => {
      const value = key[index] as string | null
      return value === null ? nullable : isKeyText(kind, value)
    })
  )
}

const fingerprintLength = 12

// It is separate from the signature, so that a cursor of another list is distinct from a forged cursor. `perPage` and `fields` may change between pages.
/** Returns a fingerprint of what a cursor is bound to: the collection, the order, the conditions, the scope of the client and its tenant. */
export function fingerprintOf(
  name: string,
  { order, conditions }: Pick<ListQuery, 'order' | 'conditions'>,
  scope: string,
  tenant?: string
): string {
  const keys = order.map(({ field, kind, descending }) => [field, kind, descending])
  const terms = conditions.map(({ field, anyOf = [], operator, value }) => [
    field,
    operator,
    typeof value === 'object' ? value.toSorted() : value,
    ...anyOf
  ])
  const bound = [name, keys, terms, scope, ...(tenant === undefined ? [] : [tenant])]
  return hash('sha256', JSON.stringify(bound), 'base64url').slice(0, fingerprintLength)
}

// The texts that a database writes. Clients may not send all of them: 1e+20, NaN, infinity, a year with five digits.
const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i
const integer = /^-?\d{1,20}$/
const decimal = /^(?:-?\d{1,400}(?:\.\d{1,400})?(?:e[+-]?\d{1,3})?|NaN|-?Infinity)$/
const date = /^\d{4,6}-\d\d-\d\d(?: BC)?$/
const time = String.raw`(?:[01]\d|2[0-4]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?`
const offset = String.raw`(?:Z|[+-](?:0\d|1[0-5])(?::?[0-5]\d){0,2})?`
const dateTime = new RegExp(String.raw`^\d{4,6}-\d\d-\d\d[T ]${time}(?: BC)?${offset}(?: BC)?$`)
const infinity = /^-?infinity$/

function isKeyText(kind: ValueKind, text: string): boolean {
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
