import type { Postgres, StoreOptions } from './connections/postgres.ts'
import { idempotencyMigrations, postgresIdempotencyStore } from './idempotency/index.ts'
import { jobMigrations, postgresJobStore } from './jobs.ts'
import type { Migration } from './migrations/migration.ts'
import { postgresWebhookStore, webhookMigrations } from './webhooks/index.ts'

/** The migrations that create the tables of {@link postgresStores}; pass them to `migrate`. */
export const storeMigrations: readonly Migration[] = [...idempotencyMigrations, ...jobMigrations, ...webhookMigrations]

/**
 * Creates the stores for the option `stores` of the preset, in one database. They write in the transactions of `postgresTransactions` on the same
 * database. Jobs and webhooks also need a queue.
 */
export function postgresStores(database: Postgres, options: StoreOptions = {}) {
  return {
    idempotency: postgresIdempotencyStore(database, options),
    jobs: postgresJobStore(database, options),
    webhooks: postgresWebhookStore(database, options)
  }
}
