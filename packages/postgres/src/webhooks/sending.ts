import type { DeliveryToSend, WebhookStore } from '@concordat/webhooks'
import type { Postgres } from '../postgres.ts'
import { gathered } from './gathered.ts'
import { deliveryRecords } from './records.ts'
import type { WebhookTables } from './tables.ts'

/** Reads what is about to be sent: jobs that begin together are read together. */
export function sendingStore(
  database: Postgres,
  { subscriptions, messages, deliveries }: WebhookTables
): Pick<WebhookStore, 'deliveryToSend'> {
  // Each message is looked up by itself, whatever the planner believes of how many there are.
  const sql = `SELECT json_build_object(
      'delivery', ${deliveryRecords.json('delivery')},
      'subscription', subscription.record,
      'body', message.body
    )::text AS json
    FROM ${deliveries} AS delivery
    JOIN ${subscriptions} AS subscription ON subscription.id = delivery.subscription_id
    CROSS JOIN LATERAL (
      SELECT bodies[array_position(versions, (subscription.record->>'version')::integer)] AS body
      FROM ${messages} WHERE id = delivery.message_id OFFSET 0
    ) AS message
    WHERE delivery.id = ANY($1::uuid[])`

  const deliveryToSend = gathered<string, DeliveryToSend | undefined>(async (ids) => {
    const found = await database.query<DeliveryToSend>(sql, [ids])
    const known = new Map(found.map((one) => [one.delivery.id, one]))
    return ids.map((id) => known.get(id))
  })

  return { deliveryToSend }
}
