import type { Delivery, DeliveryToSend, Subscription, WebhookStore } from '@concordat/webhooks'
import type { Postgres } from '../postgres.ts'
import { gathered } from './gathered.ts'
import { deliveryRecords } from './records.ts'
import type { WebhookTables } from './tables.ts'

/** Reads what is about to be sent: jobs that begin together are read together. */
export function sendingStore(
  database: Postgres,
  { subscriptions, messages, deliveries }: WebhookTables
): Pick<WebhookStore, 'deliveryToSend'> {
  // Each message is looked up by itself, whatever the planner believes of how many there are. A body within JSON would be escaped here and
  // read again there, which takes as long as to find it.
  const sql = `SELECT ${deliveryRecords.json('delivery')}::text AS delivery, subscription.record::text AS subscription, message.body
    FROM ${deliveries} AS delivery
    JOIN ${subscriptions} AS subscription ON subscription.id = delivery.subscription_id
    CROSS JOIN LATERAL (
      SELECT bodies[array_position(versions, (subscription.record->>'version')::integer)] AS body
      FROM ${messages} WHERE id = delivery.message_id OFFSET 0
    ) AS message
    WHERE delivery.id = ANY($1::uuid[])`

  const deliveryToSend = gathered<string, DeliveryToSend | undefined>(async (ids) => {
    const { rows } = await database.client.query<Record<keyof DeliveryToSend, string>>(sql, [ids])
    const subscriptionsByJson = new Map<string, Subscription>()
    const known = new Map<string, DeliveryToSend>()
    for (const row of rows) {
      const delivery = JSON.parse(row.delivery) as Delivery
      const subscription = subscriptionsByJson.get(row.subscription) ?? (JSON.parse(row.subscription) as Subscription)
      subscriptionsByJson.set(row.subscription, subscription)
      known.set(delivery.id, { delivery, subscription, body: row.body })
    }
    return ids.map((id) => known.get(id))
  })

  return { deliveryToSend }
}
