import { callback, describeOptions, integer, type OptionsOf, type SettingsOf, value } from '@concordat/plugin-kit/options'
import type { OpenDatabase } from './opened.ts'

/** The description of {@link OpenOptions}. */
export const openOptions = describeOptions('postgres', {
  /** The URL of a PostgreSQL server. */
  url: value<string>(),
  /** The folder of a PGlite, used without `url`. `memory://` stores nothing. */
  folder: value<string>(),
  /** Prepares the database. On a server it has one connection without timeouts: in a transaction, query nothing outside of it. */
  prepare: callback<(database: OpenDatabase) => Promise<void>>('prepares the database'),
  /** The connections of a server for requests. The queue and the background have five more each. Operators lower it while the server runs out of connections. */
  maxConnections: integer({ default: 10, min: 1 }),
  /** Called with the error of each lost connection, which the pool replaces. */
  onError: callback<(error: unknown) => void>('receives an error', { default: () => {} })
})

/** Options of `openDatabase`. */
export interface OpenOptions extends OptionsOf<typeof openOptions> {}

/** The options without those that select the kind of the database. */
export type OpenSettings = Omit<SettingsOf<(typeof openOptions)['members']>, 'url' | 'folder'>
