import type { IdempotencyStore } from '@concordat/idempotency'
import type { JobStore } from '@concordat/jobs'
import type { WebhookStore } from '@concordat/webhooks'
import { idempotencyMigrations, postgresIdempotencyStore } from './idempotency/index.ts'
import { jobMigrations, postgresJobStore } from './jobs.ts'
import type { Migration } from './migrations.ts'
import type { Postgres, StoreOptions } from './postgres.ts'
import { postgresWebhookStore, webhookMigrations } from './webhooks/index.ts'

/** The PostgreSQL stores for the `stores` option of the preset: idempotency keys, job records, and webhooks. */
export interface PostgresStores {
  readonly idempotency: IdempotencyStore
  readonly jobs: JobStore
  readonly webhooks: WebhookStore
}

/** The migrations that create the tables of {@link postgresStores}; pass them to `migrate`. */
export const storeMigrations: readonly Migration[] = [...idempotencyMigrations, ...jobMigrations, ...webhookMigrations]

/**
 * Creates the stores for the `stores` option of the preset, all in one database. They write in the transactions of the preset's option
 * `transactions`, created by `postgresTransactions` on the same database. Jobs and webhooks also need a queue, created by `postgresWorkQueue` or
 * `postgresWorkQueue`.
 */
export function postgresStores(database: Postgres, options: StoreOptions = {}): PostgresStores {
  return {
    idempotency: postgresIdempotencyStore(database, options),
    jobs: postgresJobStore(database, options),
    webhooks: postgresWebhookStore(database, options)
  }
}
