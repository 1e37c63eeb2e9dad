export { webhookMigrations } from './migrations.ts'
export { postgresWebhookStore } from './store.ts'
