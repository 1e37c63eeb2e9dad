import { migrate, readMigrations } from '@concordat/postgres'
import { loginAttemptMigrations } from '@concordat/postgres/login-attempts'
import { type OpenDatabase, openDatabase as open } from '@concordat/postgres/open'
import { refreshTokenMigrations } from '@concordat/postgres/refresh-tokens'
import { revocationMigrations } from '@concordat/postgres/revocations'
import { storeMigrations } from '@concordat/postgres/stores'
import { refuseDemoUsers, seedDemoUsers } from '../../sample/demo-users.ts'
import { seed } from '../../sample/seed.ts'
import type { Configuration } from '../configuration.ts'

/** All migrations, those of the service last: its tables reference the tables of the stores. */
export const migrations = [
  ...loginAttemptMigrations,
  ...refreshTokenMigrations,
  ...revocationMigrations,
  ...storeMigrations,
  ...(await readMigrations(new URL('migrations/', import.meta.url), 'orders-service'))
]

/** Opens the configured database, updates its schema and seeds it. Several processes can start at the same time. */
export function openDatabase(
  { databaseUrl, dataDirectory, seedOrders, demoUsers }: Configuration,
  onError: (error: unknown) => void,
  onProgress: (done: number, total: number) => void
): Promise<OpenDatabase> {
  return open({
    url: databaseUrl,
    folder: dataDirectory,
    onError,
    async prepare(database) {
      await migrate(database.postgres, migrations)
      await seed(database, seedOrders, onProgress)
      await (demoUsers ? seedDemoUsers(database) : refuseDemoUsers(database))
    }
  })
}
