/** Where SQL can be sent. */
export interface Queries {
  /**
   * Runs one statement that answers rows of one text column, named `json`, and parses each: so that no type parser that a service
   * has set changes what comes back.
   */
  query<Row>(sql: string, params?: readonly unknown[]): Promise<Row[]>
}

/** Who hears a channel. */
export interface Listener {
  /** There is news. */
  readonly heard: () => void
  /** The connection is gone: nothing will be heard any more. Called at most once. */
  readonly lost: () => void
}

/** A PostgreSQL database, by whatever client: made by `fromPool` or `fromPGlite`. */
export interface Postgres extends Queries {
  /** Commits what the work did, or nothing of it when it throws. */
  transaction<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result>
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
