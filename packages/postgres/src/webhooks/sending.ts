import type { Delivery, DeliveryToSend, Outage, Subscription, WebhookStore } from '@concordat/webhooks'
import type { Postgres } from '../postgres.ts'
import { gathered } from './gathered.ts'
import { deliveryRecords } from './records.ts'
import type { WebhookTables } from './tables.ts'

interface Row extends Record<'delivery' | 'subscription' | 'body', string> {
  readonly outages: string | null
}

/** Creates the part of the store that reads deliveries to send. Jobs that begin at the same time are read together. */
export function sendingStore(
  database: Postgres,
  { subscriptions, outages, messages, deliveries }: WebhookTables
): Pick<WebhookStore, 'deliveryToSend'> {
  // Each message is looked up separately, whatever number of messages the planner expects. A body inside JSON would be escaped here and
  // parsed there, which takes as long as finding it.
  const sql = `SELECT ${deliveryRecords.json('delivery')}::text AS delivery, subscription.record::text AS subscription, message.body,
      (SELECT json_agg(record)::text FROM ${outages} WHERE owner = subscription.owner) AS outages
    FROM ${deliveries} AS delivery
    JOIN ${subscriptions} AS subscription ON subscription.id = delivery.subscription_id
    CROSS JOIN LATERAL (
      SELECT bodies[array_position(versions, (subscription.record->>'version')::integer)] AS body
      FROM ${messages} WHERE id = delivery.message_id OFFSET 0
    ) AS message
    WHERE delivery.id = ANY($1::uuid[])`

  const deliveryToSend = gathered<string, DeliveryToSend | undefined>(async (ids) => {
    const { rows } = await database.client.query<Row>(sql, [ids])
    // Many deliveries have the same subscription, and the same outages of its owner.
    const parsed = new Map<string, unknown>()
    function parse(json: string) {
      const value = parsed.get(json) ?? JSON.parse(json)
      parsed.set(json, value)
      return value
    }
    const known = new Map<string, DeliveryToSend>()
    for (const row of rows) {
      const delivery = JSON.parse(row.delivery) as Delivery
      const subscription = parse(row.subscription) as Subscription
      const outages = (row.outages === null ? [] : parse(row.outages)) as Outage[]
      const outage = outages.find(({ origin }) => origin === new URL(subscription.url).origin)
      known.set(delivery.id, { delivery, subscription, outage, body: row.body })
    }
    return ids.map((id) => known.get(id))
  })

  return { deliveryToSend }
}
