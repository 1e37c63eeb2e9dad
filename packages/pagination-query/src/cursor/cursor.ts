import { hash } from 'node:crypto'
import type { BoundCollection } from '../declaration/bound-collection.ts'
import { maxCursorLength } from '../declaration/parameter-objects.ts'
import type { SortKey } from '../list-query.ts'
import type { Key } from '../order/key-ranges.ts'
import type { Reading } from '../query/query-reader.ts'
import type { CursorKeys } from './keys.ts'
import { openToken, sealToken } from './token.ts'
import { isKeyText } from './values.ts'

/** The position where a page begins, and the direction in which it is read. */
export interface Position {
  readonly reverse: boolean
  /** Whether the page includes the row that the key identifies. */
  readonly inclusive: boolean
  /** The sort key values at the position; undefined for the beginning or the end of the list. */
  readonly key: Key | undefined
  /**
   * The number of items between the beginning of the list and the position, counted over the pages that the client has read; undefined if
   * unknown.
   */
  readonly before: number | undefined
}

/** The content of a cursor: a position, and the list that it belongs to. */
export interface Cursor extends Position {
  /** The fingerprint of the list that the cursor belongs to. */
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
  const [flags, fingerprint, issuedAt, ...others] = parseList(payload)
  if (typeof flags !== 'number' || ![0, 1, 2, 3, 4, 5, 6, 7].includes(flags) || typeof fingerprint !== 'string') return undefined
  // A list that is not counted does not tell it for each page.
  const before = flags >= 4 ? others.shift() : 0
  const key = others
  if (!Number.isSafeInteger(issuedAt) || !Number.isSafeInteger(before) || (before as number) < 0) return undefined
  if (!key.every((value): value is string | null => value === null || typeof value === 'string')) return undefined
  return {
    reverse: flags % 2 === 1,
    inclusive: flags % 4 >= 2,
    before: flags >= 4 ? (before as number) : undefined,
    fingerprint,
    issuedAt: issuedAt as number,
    key: key.length === 0 ? undefined : key
  }
}

function parseList(payload: string): readonly unknown[] {
  try {
    const parsed: unknown = JSON.parse(payload)
    return Array.isArray(parsed) ? parsed : []
  } catch {
    return []
  }
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

/**
 * Returns a fingerprint of what a cursor is bound to: the collection, the order, the conditions and the scope of the client. It is
 * separate from the signature, so that a cursor of another list is distinct from a forged cursor. `perPage` and `fields` are not
 * part of it, and may change between pages.
 */
export function fingerprintOf({ name }: BoundCollection, { order, conditions }: Reading, scope: string): string {
  const keys = order.map(({ field, kind, descending }) => [field, kind, descending])
  const terms = conditions.map(({ field, operator, value }) => [field, operator, typeof value === 'object' ? value.toSorted() : value])
  return hash('sha256', JSON.stringify([name, keys, terms, scope]), 'base64url').slice(0, fingerprintLength)
}
