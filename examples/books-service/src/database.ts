import { migrate, readMigrations } from '@concordat/postgres'
import { auditTrailMigrations } from '@concordat/postgres/audit-trail' // [audit]
import type { OpenDatabase } from '@concordat/postgres/open'
import { signInMigrations } from '@concordat/postgres/sign-in' // [auth]
import { storeMigrations } from '@concordat/postgres/stores'

const own = await readMigrations(new URL('migrations/', import.meta.url), 'books-service')
const migrations = [
  ...signInMigrations, // [auth]
  ...auditTrailMigrations, // [audit]
  ...storeMigrations,
  ...own
]

/** Creates and updates the tables. Of several processes that start at the same time, one does it. */
export function prepare({ postgres }: OpenDatabase): Promise<void> {
  return migrate(postgres, migrations)
}
