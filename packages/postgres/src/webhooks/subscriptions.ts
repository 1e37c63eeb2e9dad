import type { Subscription, WebhookStore } from '@concordat/webhooks'
import type { Transaction } from '@concordat/work-queue'
import { joined } from '../joined.ts'
import type { Postgres } from '../postgres.ts'
import { runInSession } from '../run-in.ts'
import { pageOf } from './page.ts'
import type { WebhookTables } from './tables.ts'

type Methods = 'addSubscription' | 'subscription' | 'subscriptionsOf' | 'subscribersOf' | 'changeSubscription' | 'removeSubscription'

/** Creates the part of the store for subscriptions. */
export function subscriptionStore(database: Postgres, { subscriptions, removals }: WebhookTables): Pick<WebhookStore, Methods> {
  async function change(id: string, change: (current: Subscription) => Subscription, transaction: Transaction) {
    const queries = joined(database, transaction)
    // NO KEY: statements that only reference the subscription do not wait for an update of the health of its receiver.
    const [current] = await queries.query<Subscription>(
      `SELECT record::text AS json FROM ${subscriptions} WHERE id = $1::uuid FOR NO KEY UPDATE`,
      [id]
    )
    if (current === undefined) return undefined
    const changed = change(current)
    if (changed === current) return current
    await queries.query(
      `UPDATE ${subscriptions} SET owner = $2, event_types = $3::text[], is_enabled = $4::boolean, record = $5::text::json WHERE id = $1::uuid`,
      rowOf(changed)
    )
    return changed
  }

  return {
    async addSubscription(subscription, transaction) {
      await joined(database, transaction).query(
        `INSERT INTO ${subscriptions} (id, owner, event_types, is_enabled, record)
        VALUES ($1::uuid, $2, $3::text[], $4::boolean, $5::text::json)`,
        rowOf(subscription)
      )
    },
    async subscription(id, transaction) {
      const sql = `SELECT record::text AS json FROM ${subscriptions} WHERE id = $1::uuid`
      return (await joined(database, transaction).query<Subscription>(sql, [id]))[0]
    },
    async subscriptionsOf(owner, input, transaction) {
      const { condition, order, values } = pageOf(owner, input)
      const sql = `SELECT record::text AS json FROM ${subscriptions} WHERE owner = $1 ${condition} ${order}`
      return joined(database, transaction).query(sql, values)
    },
    subscribersOf: async (eventType, transaction) =>
      joined(database, transaction).query(
        `SELECT record::text AS json FROM ${subscriptions} WHERE is_enabled AND event_types @> ARRAY[$1::text] ORDER BY id`,
        [eventType]
      ),
    changeSubscription: async (id, make, transaction) =>
      transaction === undefined ? runInSession(database.open({}), (own) => change(id, make, own)) : change(id, make, transaction),
    async removeSubscription(id, transaction) {
      const removed = await joined(database, transaction).query(
        `WITH gone AS (DELETE FROM ${subscriptions} WHERE id = $1::uuid RETURNING id)
        INSERT INTO ${removals} (subscription_id) SELECT id FROM gone RETURNING 'true' AS json`,
        [id]
      )
      return removed.length > 0
    }
  }
}

function rowOf(subscription: Subscription) {
  const { id, owner, eventTypes, status } = subscription
  return [id, owner, [...eventTypes], status === 'enabled', JSON.stringify(subscription)]
}
