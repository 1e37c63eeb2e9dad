import { migrate, readMigrations } from '@concordat/postgres'
import type { OpenDatabase } from '@concordat/postgres/open'
import { signInMigrations } from '@concordat/postgres/sign-in' // [auth]
import { storeMigrations } from '@concordat/postgres/stores'

const migrations = [
  ...signInMigrations, // [auth]
  ...storeMigrations,
  ...(await readMigrations(new URL('migrations/', import.meta.url), 'books-service'))
]

/** Creates and updates the tables. Of several processes that start at the same time, one does it. */
export function prepare({ postgres }: OpenDatabase): Promise<void> {
  return migrate(postgres, migrations)
}
