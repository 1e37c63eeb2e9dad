export { idempotencyMigrations } from './migrations.ts'
export type { IdempotencyStoreOptions } from './store.ts'
export { postgresIdempotency } from './store.ts'
