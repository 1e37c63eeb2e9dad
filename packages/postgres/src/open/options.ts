import type { OpenDatabase } from './opened.ts'

/** Options of `openDatabase`. */
export interface OpenOptions {
  /** The URL of a PostgreSQL server. Requires the package `pg`. @default PGlite in `folder` */
  readonly url?: string | undefined
  /**
   * The folder of a PGlite database, which is created if it does not exist, or `memory://` for a database in the memory of the process. Not used when
   * `url` is set. Requires the package `@electric-sql/pglite`.
   */
  readonly folder?: string | undefined
  /**
   * Prepares the database before the promise resolves, for example with migrations and the first rows. On a server, its statements have no
   * timeouts, and it has a single connection: in a transaction, query nothing outside of it.
   */
  readonly prepare?: ((database: OpenDatabase) => Promise<void>) | undefined
  /** The name of the connections in `pg_stat_activity`. @default `application_name` of the URL */
  readonly applicationName?: string | undefined
  /** The maximum number of connections for the service. A queue has five more, and so has the work besides requests. @default 10 */
  readonly maxConnections?: number | undefined
  /** Called with the error of each lost connection, for the log. The pool replaces these connections. @default errors are ignored */
  readonly onError?: ((error: unknown) => void) | undefined
}
