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
  const sql = `SELECT json_build_object(
      'delivery', ${deliveryRecords.json('delivery')},
      'subscription', subscription.record,
      'body', message.bodies[array_position(message.versions, (subscription.record->>'version')::integer)]
    )::text AS json
    FROM ${deliveries} AS delivery
    JOIN ${subscriptions} AS subscription ON subscription.id = delivery.subscription_id
    JOIN ${messages} AS message ON message.id = delivery.message_id
    WHERE delivery.id = ANY($1::uuid[])`

  const deliveryToSend = gathered<string, DeliveryToSend | undefined>(async (ids) => {
    const found = await database.query<DeliveryToSend>(sql, [ids])
    const known = new Map(found.map((one) => [one.delivery.id, one]))
    return ids.map((id) => known.get(id))
  })

  return { deliveryToSend }
}
