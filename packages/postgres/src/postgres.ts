import type { Answer, Opened, Opening } from './session.ts'

/** Where SQL can be sent. */
export interface Queries {
  /**
   * Runs one statement that answers rows of one text column, named `json`, and parses each: so that no type parser that a service
   * has set changes what comes back.
   */
  query<Row>(sql: string, params?: readonly unknown[]): Promise<Row[]>
}

/** Where a service's own SQL can be sent: the database, or the transaction of a request. */
export interface SqlClient {
  /** Runs one statement; `$1` stands for the first of the values. */
  query<Row extends object = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<Answer<Row>>
}

/** Who hears a channel. */
export interface Listener {
  /** There is news, with what NOTIFY said of it. */
  readonly heard: (payload: string) => void
  /** The connection is gone: nothing will be heard any more. Called at most once. */
  readonly lost: () => void
}

/** A PostgreSQL database, by whatever client: made by `fromPool` or `fromPGlite`. */
export interface Postgres extends Queries {
  /** It lives in this process, and no other can use it. */
  readonly isEmbedded: boolean
  /** Commits what the work did, or nothing of it when it throws. */
  transaction<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result>
  /** Begins a transaction that is ended by hand. */
  open(opening: Opening): Promise<Opened>
  /**
   * The same database for a service's own SQL, outside of any transaction: rows are as the driver gives them. Throws
   * `TRANSACTION_REQUIRED` in a handler whose transaction is open, which would wait for itself.
   */
  readonly client: SqlClient
  /** Hears a channel from when it has resolved. The answer ends that, and never rejects. */
  listen(channel: string, listener: Listener): Promise<() => Promise<void>>
}

/** Where the tables of a store are. */
export interface StoreOptions {
  /** The one that was given to `migrate`. @default 'concordat' */
  readonly schema?: string | undefined
}

/** Refuses a schema that can't stand in SQL as it is. */
export function requireSchema(schema: string): string {
  if (!/^[a-z_][a-z0-9_]{0,39}$/.test(schema)) {
    throw new TypeError(`postgres: the schema "${schema}" is no plain name. Give one of lower-case letters, digits and _, as "concordat".`)
  }
  return schema
}

/** Reads the `json` column of each row. */
export function parseRows<Row>(rows: readonly unknown[]): Row[] {
  return (rows as readonly { readonly json?: string | null }[]).flatMap(({ json }) =>
    typeof json === 'string' ? [JSON.parse(json) as Row] : []
  )
}
