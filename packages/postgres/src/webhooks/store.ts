import type { WebhookStore } from '@concordat/webhooks'
import type { Postgres, StoreOptions } from '../connections/postgres.ts'
import { deliveryStore } from './deliveries.ts'
import { messageStore } from './messages.ts'
import { outageStore } from './outages.ts'
import { subscriptionStore } from './subscriptions.ts'
import { sweepStore } from './sweep.ts'
import { tablesOf } from './tables.ts'

/** Creates a store of webhook subscriptions and deliveries in PostgreSQL 13 or later, in the same database as the work queue. */
export function postgresWebhookStore(database: Postgres, options: StoreOptions = {}): WebhookStore {
  const tables = tablesOf(options)
  return {
    transaction: (work) => database.transaction(work),
    ...subscriptionStore(database, tables),
    ...outageStore(database, tables),
    ...messageStore(database, tables),
    ...deliveryStore(database, tables),
    ...sweepStore(database, tables)
  }
}
