import { hash } from 'node:crypto'
import type { BoundCollection } from '../declaration/bound-collection.ts'
import { maxCursorLength } from '../declaration/parameter-objects.ts'
import type { SortKey } from '../list-query.ts'
import type { Key } from '../order/key-ranges.ts'
import type { Reading } from '../query/query-reader.ts'
import type { CursorKeys } from './keys.ts'
import { openToken, sealToken } from './token.ts'
import { isKeyText } from './values.ts'

/** Where a page begins, and in which direction it is read. */
export interface Position {
  readonly reverse: boolean
  /** The row of the key belongs to the page. */
  readonly inclusive: boolean
  /** Undefined: from the end of the list. */
  readonly key: Key | undefined
}

/** A position as a cursor carries it. */
export interface Cursor extends Position {
  /** Of the list that it belongs to. */
  readonly fingerprint: string
  /** In seconds since 1970; 0 when cursors have no age. */
  readonly issuedAt: number
}

/** Writes a cursor. `secret`: nobody but this service can read the values in it. */
export function writeCursor({ reverse, inclusive, key, fingerprint, issuedAt }: Cursor, keys: CursorKeys, secret: boolean): string {
  const token = sealToken(JSON.stringify([(reverse ? 1 : 0) + (inclusive ? 2 : 0), fingerprint, issuedAt, ...(key ?? [])]), keys, secret)
  if (token.length > maxCursorLength)
    throw new TypeError(
      `A sort key of a row is too long for a cursor of ${maxCursorLength} characters. Hold the rows to the maxLength of the schema.`
    )
  return token
}

/** Reads a cursor, or answers undefined when this service did not write it. */
export function readCursor(token: string, keys: CursorKeys, secret: boolean): Cursor | undefined {
  if (token.length > maxCursorLength) return undefined
  const payload = openToken(token, keys, secret)
  if (payload === undefined) return undefined
  const parts = parseList(payload)
  const [flags, fingerprint, issuedAt, ...key] = parts
  if (typeof flags !== 'number' || ![0, 1, 2, 3].includes(flags) || typeof fingerprint !== 'string' || !Number.isSafeInteger(issuedAt))
    return undefined
  if (!key.every((value): value is string | null => value === null || typeof value === 'string')) return undefined
  return {
    reverse: flags % 2 === 1,
    inclusive: flags >= 2,
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

/** Whether a key can be one of this order: its values are of the kinds of the sort keys, and null only where that can be. */
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
 * What a cursor is bound to: the collection, the order, the conditions and the caller's scope. It is apart from the signature,
 * so that a cursor of another list is told from a forged one. `perPage` and `fields` may change on the way.
 */
export function fingerprintOf({ name }: BoundCollection, { order, conditions }: Reading, scope: string): string {
  const keys = order.map(({ field, kind, descending }) => [field, kind, descending])
  const terms = conditions.map(({ field, operator, value }) => [field, operator, typeof value === 'object' ? value.toSorted() : value])
  return hash('sha256', JSON.stringify([name, keys, terms, scope]), 'base64url').slice(0, fingerprintLength)
}
