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

/** Opens the configured database, updates its schema and seeds it. Several processes can start at the same time. */
export async function openDatabase(configuration: Configuration, onError: Log, onProgress: Progress): Promise<Database> {
  const { databaseUrl, dataDirectory } = configuration
  if (databaseUrl === undefined) {
    const database = await openPGlite(dataDirectory)
    await prepare(database, configuration, onProgress)
    return database
  }
  // The migration of another process, or the creation of an index, may take longer than the timeouts of requests allow.
  const patient = openPostgreSQL(databaseUrl, onError, { timeouts: 'none' })
  try {
    await prepare(patient, configuration, onProgress)
  } finally {
    await patient.close()
  }
  return openPostgreSQL(databaseUrl, onError)
}

async function prepare(database: Database, { seedOrders, environment }: Configuration, onProgress: Progress) {
  // These run first because tables of the service reference the tables of the stores.
  await migrate(database.postgres, [...loginAttemptMigrations, ...refreshTokenMigrations, ...revocationMigrations, ...storeMigrations])
  await applyMigrations(database)
  await seed(database, seedOrders, onProgress)
  await (environment === 'production' ? refuseDemoUsers(database) : seedDemoUsers(database))
}
