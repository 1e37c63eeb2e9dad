import type { Preconditions, Validator } from '@concordat/conditional-caching'
import { found } from '../found.ts'

/** A row with the number of its last change. */
export type Versioned<Row> = Row & { readonly version: number }

/** The versions that a change may find, as a parameter of SQL: `null` when it may find any. */
export type Expected = readonly string[] | null

/** What the preconditions of a change are compared with. */
export function validatorOf(row: { readonly version: number } | undefined): Validator {
  return row === undefined ? { exists: false } : { exists: true, etag: row.version }
}

/** The versions that the client lets its change find. */
export function expectedBy(preconditions: Preconditions): Expected {
  const versions = preconditions.versions()
  return versions === '*' ? null : versions
}

/**
 * The row that was changed. Where none was, `rowNow` tells why: 412 when it has another version by now, 404 when it is gone.
 */
export async function changed<Row>(
  row: Row | undefined,
  preconditions: Preconditions,
  rowNow: () => Promise<{ readonly version: number } | undefined>
): Promise<Row> {
  if (row !== undefined) return row
  throw preconditions.failed(found(await rowNow()).version)
}
