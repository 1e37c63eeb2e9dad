import { rowMissing } from './connections/errors.ts'
import { type ExpectedVersions, expectedVersions, found, onViolation, type Statements } from './rows.ts'
import type { KeyCondition } from './table-columns.ts'

/** The part of `request.preconditions` of conditional-caching that a table uses. */
export interface Preconditions {
  readonly createOnly: boolean
  versions(): readonly string[] | '*' | null
  failed(currentVersion?: string | number): Error
}

/** Returns the statements that read and change one row of a table. */
export function rowStatements<Row extends object>(
  from: string,
  columns: string,
  has: (key: object, isDeleted: boolean) => KeyCondition,
  violations: Readonly<Record<string, () => Error>>
) {
  return { run, select, lock, change }

  async function run<Result extends object = Row>(rows: Statements, statement: string, values: readonly unknown[]) {
    const [row] = await onViolation(rows.prepared<Result>(statement, values), violations)
    return row
  }

  function select(rows: Statements, key: object, { isDeleted = false, lock = '' } = {}) {
    const { where, values } = has(key, isDeleted)
    return run(rows, `SELECT ${columns} FROM ${from} WHERE ${where}${lock}`, values)
  }

  async function lock(rows: Statements, key: object, preconditions?: Preconditions) {
    const row = found(await select(rows, key, { lock: ' FOR UPDATE' }))
    if (expectedIn(preconditions)?.includes(String(versionOf(row))) === false) throw preconditions?.failed(versionOf(row))
    return row
  }

  /** Runs an UPDATE or a DELETE of the row that has the key and an expected version. `action` returns the statement, whose values follow those of the key. */
  async function change(
    rows: Statements,
    key: object,
    action: (first: number) => string,
    given: readonly unknown[],
    preconditions?: Preconditions,
    isDeleted = false
  ) {
    const { where, values } = has(key, isDeleted)
    const expected = expectedIn(preconditions)
    const all = [...values, ...given]
    const isExpected = expected === null ? '' : ` AND version::text = ANY($${all.push(expected)}::text[])`
    const row = await run(rows, `${action(values.length + 1)} WHERE ${where}${isExpected} RETURNING ${columns}`, all)
    if (row !== undefined) return row
    const now = found(await select(rows, key, { isDeleted }))
    throw preconditions?.failed(versionOf(now)) ?? rowMissing()
  }
}

function expectedIn(preconditions: Preconditions | undefined): ExpectedVersions {
  return preconditions === undefined ? null : expectedVersions(preconditions)
}

/** Returns the version of a row, of a table that has versions. */
export function versionOf(row: object) {
  return (row as { readonly version?: string | number }).version
}
