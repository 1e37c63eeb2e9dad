import { found } from './found.ts'

/**
 * A row with its version, from which its entity tag is made: new with every write and never used again, such as a random UUID. A number that counts
 * the writes is enough only where a deleted id never comes back.
 */
export type Versioned<Row> = Row & { readonly version: string | number }

/**
 * The versions that a row may have for an update to apply, as a parameter in SQL: `WHERE id = $1 AND ($2::uuid[] IS NULL OR version = ANY
 * ($2))`. `null` means any version.
 */
export type ExpectedVersions = readonly string[] | null

/** The part of `request.preconditions` of conditional-caching that this package uses. */
export interface PreconditionsLike {
  versions(): readonly string[] | '*' | null
  failed(currentVersion?: string | number): Error
}

/**
 * Returns the existence and the entity tag of the row, in the form that conditional-caching expects from a validator. A row that is undefined does
 * not exist.
 */
export function validatorOf(row: { readonly version: string | number } | undefined): {
  readonly exists: boolean
  readonly etag?: string | number | undefined
} {
  return row === undefined ? { exists: false } : { exists: true, etag: row.version }
}

/** Returns the versions that the client's change may apply to. */
export function expectedVersions(preconditions: PreconditionsLike): ExpectedVersions {
  const versions = preconditions.versions()
  return versions === '*' ? null : versions
}

/**
 * Returns the row that was changed. When no row was changed, throws according to `rowNow`: 412 when the row has another version by now,
 * 404 when it no longer exists.
 */
export async function changed<Row>(
  row: Row | undefined,
  preconditions: PreconditionsLike,
  rowNow: () => Promise<{ readonly version: string | number } | undefined>
): Promise<Row> {
  if (row !== undefined) return row
  throw preconditions.failed(found(await rowNow()).version)
}
