import { callback, describeOptions, integer, type OptionsOf, type SettingsOf, value } from '@concordat/plugin-kit/options'
import type { OpenDatabase } from './opened.ts'

/** The description of {@link OpenOptions}. */
export const openOptions = describeOptions('postgres', {
  /** The URL of a PostgreSQL server. */
  url: value<string>(),
  /** The folder of a PGlite, used without `url`. `memory://` stores nothing. */
  folder: value<string>(),
  /** The extensions of a PGlite by name, such as `{ pg_trgm }` of `@electric-sql/pglite/contrib/pg_trgm`, for CREATE EXTENSION. A server has its own. */
  extensions: value<Readonly<Record<string, object>>>(),
  /** Prepares the database. On a server it has one connection without timeouts: in a transaction, query nothing outside of it. */
  prepare: callback<(database: OpenDatabase) => Promise<void>>('prepares the database'),
  /** The connections of a server for requests. The queue and the background have five more each. Operators lower it while the server runs out of connections. */
  maxConnections: integer({ default: 10, min: 1 }),
  /**
   * The setting in which policies find the tenant of a request, such as `app.tenant`. On a server it needs `pg` 8.23; PGlite then runs as an ordinary role,
   * which owns the database and which policies bind, and not as a superuser.
   */
  tenantSetting: value<string>(),
  /** Called with the error of each lost connection, which the pool replaces. */
  onError: callback<(error: unknown) => void>('receives an error', { default: () => {} })
})

/** Options of `openDatabase`. */
export interface OpenOptions extends OptionsOf<typeof openOptions> {}

/** The options without those that select the kind of the database. */
export type OpenSettings = Omit<SettingsOf<(typeof openOptions)['members']>, 'url' | 'folder'>
