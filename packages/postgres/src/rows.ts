import { refusedParameter } from '@concordat/plugin-kit/api-error'
import { preparedQuery } from '@concordat/plugin-kit/wiring'
import { databaseUnavailable, rowMissing } from './connections/errors.ts'
import { isOutage } from './connections/failure.ts'
import type { SqlClient } from './connections/postgres.ts'
import type { QueryResult } from './connections/session.ts'

export { postgresRowErrors } from './connections/errors.ts'

/** Runs the SQL statements of a service and returns their rows without the columns that are NULL. */
export interface Statements {
  /**
   * Runs one statement and returns its rows. `$1` is the first of the values. Rejects with the error of the driver when the server refuses
   * the statement, and with a 503 `SERVICE_UNAVAILABLE` when the connection fails.
   */
  query<Row extends object>(sql: string, values?: readonly unknown[]): Promise<Row[]>
  /**
   * Does the same with a text that repeats: connections prepare up to 200, unless a pooler is in between. PostgreSQL may then plan it without the values:
   * not for a condition of which some values select most rows of a table, and others few. In a transaction, only its first statement is prepared.
   */
  prepared<Row extends object>(sql: string, values?: readonly unknown[]): Promise<Row[]>
  /** A client that returns the same rows, for libraries that expect a `pg` client, for example `runSql` of pagination-query. */
  readonly client: SqlClient
}

/** Creates {@link Statements} on a client: `database.client` of a `Postgres`, or `request.transaction` of the unit of work. */
export function statementsOn(client: SqlClient): Statements {
  type Run = (sql: string, values?: readonly unknown[]) => Promise<QueryResult>
  const run: Run = (sql, values) => client.query(sql, values)
  const prepare: Run = (client[preparedQuery]?.bind(client) as Run | undefined) ?? run
  const checked = (run: Run) => async (sql: string, values?: readonly unknown[]) => {
    try {
      const { rows, rowCount } = await run(sql, values)
      return { rows: withoutNulls(rows), rowCount }
    } catch (error) {
      throw isOutage(error) ? databaseUnavailable(error) : withParameter(error, values)
    }
  }
  const [query, prepared] = [checked(run), checked(prepare)]
  return {
    client: { query, [preparedQuery]: prepared } as SqlClient,
    query: async <Row extends object>(sql: string, values?: readonly unknown[]) => (await query(sql, values)).rows as Row[],
    prepared: async <Row extends object>(sql: string, values?: readonly unknown[]) => (await prepared(sql, values)).rows as Row[]
  }
}

// PostgreSQL names a parameter that it could not convert by its number, with messages in English.
function withParameter(error: unknown, values: readonly unknown[] = []): unknown {
  const { where } = error as { readonly where?: unknown }
  const [, number] = (typeof where === 'string' && /parameter \$(\d+)/.exec(where)) || []
  if (number !== undefined) Object.defineProperty(error, refusedParameter, { value: values[Number(number) - 1], configurable: true })
  return error
}

// Rows without a NULL stay the same objects. They are those of the driver, which have no inherited members.
function withoutNulls<Row extends object>(rows: Row[]): Row[] {
  return rows.map((row) => {
    for (const name in row) if (row[name] === null) return copyWithoutNulls(row)
    return row
  })
}

function copyWithoutNulls<Row extends object>(row: Row): Row {
  const copy = {} as Row
  for (const name in row) if (row[name] !== null) copy[name] = row[name]
  return copy
}

/**
 * Awaits the work. If it violates a constraint in `errors`, rejects with its error:
 * `onViolation(database.query('INSERT …'), { customers_email_key: emailInUse })`. In a transaction, the failed statement has ended it: throw the
 * error, and run no further statement.
 */
export async function onViolation<Result>(work: Promise<Result>, errors: Readonly<Record<string, () => Error>>): Promise<Result> {
  try {
    return await work
  } catch (thrown) {
    const { code, constraint } = (thrown ?? {}) as { readonly code?: unknown; readonly constraint?: unknown }
    const isViolation = typeof code === 'string' && code.startsWith('23') && typeof constraint === 'string'
    throw (isViolation && Object.hasOwn(errors, constraint) && errors[constraint]?.()) || thrown
  }
}

/** Returns the row if it exists. Throws a 404 `RESOURCE_NOT_FOUND` when it is undefined. */
export function found<Row>(row: Row | undefined): Row {
  if (row === undefined) throw rowMissing()
  return row
}

interface Version {
  /** New with every write and never used again, such as a random UUID. A number suffices only where a deleted id never comes back. */
  readonly version: string | number
}

/** A row with its version, from which its entity tag is made. */
export type Versioned<Row> = Row & Version

/** The versions that a row may have for an update to apply, in SQL: `WHERE id = $1 AND ($2::uuid[] IS NULL OR version = ANY ($2))`. */
export type ExpectedVersions = readonly string[] | null

/** The part of `request.preconditions` of conditional-caching that this package uses. */
interface Preconditions {
  versions(): readonly string[] | '*' | null
  failed(currentVersion?: string | number): Error
}

/** Returns the existence and the entity tag of the row, in the form that conditional-caching expects from a validator. */
export function validatorOf(row: Version | undefined): { readonly exists: boolean; readonly etag?: string | number | undefined } {
  return row === undefined ? { exists: false } : { exists: true, etag: row.version }
}

/** Returns the versions that the client's change may apply to. */
export function expectedVersions(preconditions: Preconditions): ExpectedVersions {
  const versions = preconditions.versions()
  return versions === '*' ? null : versions
}

/** Returns the row that was changed. When none was, throws by `rowNow`: 412 for a row with another version, 404 for a row that does not exist. */
export async function changed<Row>(
  row: Row | undefined,
  preconditions: Preconditions,
  rowNow: () => Promise<Version | undefined>
): Promise<Row> {
  if (row !== undefined) return row
  throw preconditions.failed(found(await rowNow()).version)
}
