export { idempotencyMigrations } from './migrations.ts'
export { postgresIdempotencyStore } from './store.ts'
