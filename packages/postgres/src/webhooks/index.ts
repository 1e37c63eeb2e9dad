export { webhookMigrations } from './migrations.ts'
export { postgresWebhooks } from './store.ts'
