import type { Preconditions, Validator } from '@concordat/conditional-caching'
import { found } from '../found.ts'

/** A row with the number of its last change. */
export type Versioned<Row> = Row & { readonly version: number }

/** The versions to which a change applies, as a parameter of SQL. `null` means any version. */
export type Expected = readonly string[] | null

/** Returns the validator that the preconditions of a change are compared with. */
export function validatorOf(row: { readonly version: number } | undefined): Validator {
  return row === undefined ? { exists: false } : { exists: true, etag: row.version }
}

/** Returns the versions to which the client's change may apply. */
export function expectedBy(preconditions: Preconditions): Expected {
  const versions = preconditions.versions()
  return versions === '*' ? null : versions
}

/**
 * Returns the row that was changed. When no row was changed, throws according to `rowNow`: 412 when the row has another version by now,
 * 404 when it no longer exists.
 */
export async function changed<Row>(
  row: Row | undefined,
  preconditions: Preconditions,
  rowNow: () => Promise<{ readonly version: number } | undefined>
): Promise<Row> {
  if (row !== undefined) return row
  throw preconditions.failed(found(await rowNow()).version)
}
