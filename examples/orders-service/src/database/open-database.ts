import { migrate, readMigrations } from '@concordat/postgres'
import { auditTrailMigrations } from '@concordat/postgres/audit-trail'
import { fileMigrations } from '@concordat/postgres/files'
import { type OpenDatabase, openDatabase as open } from '@concordat/postgres/open'
import { signInMigrations } from '@concordat/postgres/sign-in'
import { storeMigrations } from '@concordat/postgres/stores'
import { versionUsageMigrations } from '@concordat/postgres/version-usage'
import { refuseDemoUsers, seedDemoUsers } from '../../sample/demo-users.ts'
import { seed } from '../../sample/seed.ts'
import type { Settings } from '../settings.ts'

/** All migrations, those of the service last: its tables reference the tables of the stores. */
export const migrations = [
  ...signInMigrations,
  ...storeMigrations,
  ...fileMigrations,
  ...versionUsageMigrations,
  ...auditTrailMigrations,
  ...(await readMigrations(new URL('migrations/', import.meta.url), 'orders-service'))
]

/** Opens the configured database, updates its schema and seeds it. Several processes can start at the same time. */
export function openDatabase(
  { databaseUrl, dataFolder, isLocal, variables, fromVariables }: Settings,
  onError: (error: unknown) => void
): Promise<OpenDatabase> {
  const opening = open({
    url: databaseUrl,
    folder: dataFolder,
    onError,
    async prepare(database) {
      await migrate(database.postgres, migrations)
      await seed(database, variables.SEED_ORDERS)
      await (isLocal ? seedDemoUsers(database) : refuseDemoUsers(database))
    }
  })
  return fromVariables([databaseUrl === undefined ? 'DATA_DIR' : 'DATABASE_URL'], opening)
}
