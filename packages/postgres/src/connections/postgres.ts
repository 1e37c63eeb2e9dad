import { describeOptions, type OptionsOf, value } from '@concordat/plugin-kit/options'
import type { PreparingClient } from '@concordat/plugin-kit/wiring'
import { databaseUnavailable } from './errors.ts'
import { isOutage } from './failure.ts'
import type { Rows } from './message.ts'
import type { Prepared } from './pg-client.ts'
import type { Opened, Opening, QueryResult } from './session.ts'

/** Runs SQL statements for the stores. */
export interface Queries {
  /**
   * Runs one statement whose rows have a single text column named `json`, and returns the parsed values, whatever type parsers the service has set.
   * Outside a transaction, it rejects with a 503 `SERVICE_UNAVAILABLE` when the connection fails: what a store throws reaches clients.
   */
  query<Row>(sql: string, params?: readonly unknown[]): Promise<Row[]>
}

/** How much a connection pool has to do. */
export interface ConnectionLoad {
  readonly used: number
  readonly max: number
  readonly waiting: number
}

/** Runs the SQL of the service itself, in the database or in the transaction of a request. */
export interface SqlClient extends PreparingClient {
  /** Runs one statement. `$1` is the first of the values. */
  query<Row extends object = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<QueryResult<Row>>
}

/** Callbacks for a channel. */
export interface Listener {
  /** Called for each notification, with the payload of NOTIFY. */
  readonly onMessage: (payload: string) => void
  /** Called when the connection is lost, at most once. No notification follows. */
  readonly onLost: () => void
}

/** A PostgreSQL database, independent of the driver. Created by `fromPool` or `fromPGlite`. */
export interface Postgres extends Queries {
  /** Whether the database is inside this process, so that no other process can use it. */
  readonly isEmbedded: boolean
  /** Runs one statement, which connections prepare, and returns the fields of its rows as text. Rejects as `query` does. */
  fields(statement: Prepared): Promise<Rows>
  /** Runs the work in a transaction. Commits when it resolves, and rolls back when it throws. */
  transaction<Result>(work: (transaction: SqlClient) => Promise<Result>): Promise<Result>
  /** The setting in which policies find the tenant, such as `app.tenant`. */
  readonly tenantSetting?: string | undefined
  /**
   * Runs the work in a transaction that sees the rows of one tenant, for jobs, events and exports. Commits when it resolves, and rolls back when it
   * throws. Rejects with a `TypeError` for a malformed tenant, and for a database without `tenantSetting`.
   */
  asTenant<Result>(tenant: string, work: (transaction: SqlClient) => Promise<Result>): Promise<Result>
  /**
   * Returns a client for statements that only read. With a tenant, each runs in a read-only transaction of its own, in one message: as many round trips as
   * without. Throws `TRANSACTION_REQUIRED` in a handler whose transaction is open, and a 503 `SERVICE_UNAVAILABLE` when the connection fails.
   */
  reads(tenant: string | undefined): SqlClient
  /** Begins a transaction that the caller must end. */
  open(opening: Opening): Promise<Opened>
  /**
   * A client for the service's own SQL, outside any transaction. Rows are as the driver returns them. Throws
   * `TRANSACTION_REQUIRED` in a handler whose transaction is open, because the handler would wait for itself, and, where the database has a
   * `tenantSetting`, in a handler of a request with a tenant.
   */
  readonly client: SqlClient
  /** Listens to a channel from the moment the promise resolves. The returned function stops listening, and never rejects. */
  listen(channel: string, listener: Listener): Promise<() => Promise<void>>
  /** Returns whether the handlers of a route wait so long for connections that further ones should not begin. */
  isCongested(route: object | undefined): boolean
  /** The load of its connection pool; undefined without a pool of a known size. */
  readonly connections?: ConnectionLoad | undefined
  /** The same database for work that must not wait for the connections of requests. It has connections of its own, or is this database itself. */
  readonly background: Postgres
}

/** The description of {@link StoreOptions}. */
export const storeOptions = describeOptions('postgres', {
  /** The schema of the tables: lowercase letters, digits and `_`. */
  schema: value<string>({ default: 'concordat' })
})

/** Options of each store and of `migrate`: where the tables are. */
export interface StoreOptions extends OptionsOf<typeof storeOptions> {}

/** Returns the schema of a store. */
export function schemaOf(options: StoreOptions): string {
  return requireSchema(storeOptions.read(options).schema)
}

/** Throws a `TypeError` for a schema name that would need quotes in SQL. */
export function requireSchema(schema: string): string {
  if (/^[a-z_][a-z0-9_]{0,39}$/.test(schema)) return schema
  throw new TypeError(`postgres: options.schema "${schema}" must consist of lowercase letters, digits and _, for example "concordat".`)
}

/** Parses the `json` column of each row. */
export function parseRows<Row>(rows: readonly unknown[]): Row[] {
  return (rows as readonly { readonly json?: string | null }[]).flatMap(({ json }) =>
    typeof json === 'string' ? [JSON.parse(json) as Row] : []
  )
}

/** Parses the `json` column of each row of a result. Rejects with a 503 `SERVICE_UNAVAILABLE` when the connection failed. */
export async function storedValues<Row>(result: Promise<{ readonly rows: readonly unknown[] }>): Promise<Row[]> {
  return parseRows((await available(result)).rows)
}

/** Awaits a result. Rejects with a 503 `SERVICE_UNAVAILABLE` when the connection failed. */
export async function available<Result>(result: Promise<Result>): Promise<Result> {
  try {
    return await result
  } catch (error) {
    throw unavailable(error)
  }
}

/** Returns the error of a statement, or a 503 `SERVICE_UNAVAILABLE` when the connection failed. */
export function unavailable(error: unknown): unknown {
  return isOutage(error) ? databaseUnavailable(error) : error
}

/** Runs the work in the transaction. Commits when it resolves, and rolls back when it throws. */
export async function runIn<Result>(opening: Promise<Opened>, work: (transaction: SqlClient) => Promise<Result>): Promise<Result> {
  const { session } = await opening
  try {
    const result = await work({ query: (text: string, values: readonly unknown[] = []) => session.query(text, values) } as SqlClient)
    await session.commit()
    return result
  } catch (error) {
    await session.rollback()
    throw error
  }
}
