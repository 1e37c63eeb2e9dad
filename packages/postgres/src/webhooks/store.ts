import type { WebhookStore } from '@concordat/webhooks'
import type { Postgres, StoreOptions } from '../postgres.ts'
import { runInSession } from '../run-in.ts'
import { changeStore } from './changes.ts'
import { deliveryStore } from './deliveries.ts'
import { messageStore } from './messages.ts'
import { outageStore } from './outages.ts'
import { sendingStore } from './sending.ts'
import { subscriptionStore } from './subscriptions.ts'
import { sweepStore } from './sweep.ts'
import { tablesOf } from './tables.ts'

/**
 * Creates a store of webhook subscriptions and deliveries in PostgreSQL 13 or later, in the same database as the work queue. An event exists from
 * the commit of its emitter on, or never. The outcome of an attempt is committed with the end of its job.
 */
export function postgresWebhookStore(database: Postgres, options: StoreOptions = {}): WebhookStore {
  const tables = tablesOf(options)
  return {
    transaction: (work) => runInSession(database.open({}), work),
    ...subscriptionStore(database, tables),
    ...changeStore(database, tables),
    ...outageStore(database, tables),
    ...messageStore(database, tables),
    ...sendingStore(database, tables),
    ...deliveryStore(database, tables),
    ...sweepStore(database, tables)
  }
}
