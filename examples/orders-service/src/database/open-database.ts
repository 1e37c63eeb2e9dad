import { migrate } from '@concordat/postgres'
import { loginAttemptMigrations } from '@concordat/postgres/login-attempts'
import { refreshTokenMigrations } from '@concordat/postgres/refresh-tokens'
import { revocationMigrations } from '@concordat/postgres/revocations'
import { storeMigrations } from '@concordat/postgres/stores'
import type { Configuration } from '../configuration.ts'
import { refuseDemoUsers, seedDemoUsers } from '../users/demo-users.ts'
import type { Database } from './database.ts'
import { applyMigrations } from './migrations.ts'
import { openPGlite } from './pglite.ts'
import { openPostgreSQL } from './postgresql.ts'
import { seed } from './seed.ts'

type Log = (error: unknown) => void
type Progress = (done: number, total: number) => void

/** Opens the configured database, brings its schema up to date and seeds it. Safe when several processes start at once. */
export async function openDatabase(configuration: Configuration, onError: Log, onProgress: Progress): Promise<Database> {
  const { databaseUrl, dataDirectory } = configuration
  if (databaseUrl === undefined) {
    const database = await openPGlite(dataDirectory)
    await prepare(database, configuration, onProgress)
    return database
  }
  // Waiting for another process's migration, or building an index, may take longer than any request is allowed to.
  const patient = openPostgreSQL(databaseUrl, onError, { timeouts: 'none' })
  try {
    await prepare(patient, configuration, onProgress)
  } finally {
    await patient.close()
  }
  return openPostgreSQL(databaseUrl, onError)
}

async function prepare(database: Database, { seedOrders, environment }: Configuration, onProgress: Progress) {
  // First, for tables of the service refer to those of the stores.
  await migrate(database.postgres, [...loginAttemptMigrations, ...refreshTokenMigrations, ...revocationMigrations, ...storeMigrations])
  await applyMigrations(database)
  await seed(database, seedOrders, onProgress)
  await (environment === 'production' ? refuseDemoUsers(database) : seedDemoUsers(database))
}
