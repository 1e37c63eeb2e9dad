import { type StoreOptions, schemaOf } from '../postgres.ts'

/** The names of the tables in SQL. */
export interface WebhookTables {
  readonly subscriptions: string
  readonly removals: string
  readonly changes: string
  readonly outages: string
  readonly messages: string
  readonly deliveries: string
  readonly attempts: string
}

export function tablesOf(options: StoreOptions): WebhookTables {
  const prefix = `${schemaOf(options)}.webhook_`
  return {
    subscriptions: `${prefix}subscriptions`,
    removals: `${prefix}removals`,
    changes: `${prefix}changes`,
    outages: `${prefix}outages`,
    messages: `${prefix}messages`,
    deliveries: `${prefix}deliveries`,
    attempts: `${prefix}attempts`
  }
}
