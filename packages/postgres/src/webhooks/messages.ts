import type { Delivery, DeliveryToSend, Outage, Subscription, WebhookStore } from '@concordat/webhooks'
import type { Postgres } from '../connections/postgres.ts'
import { joined } from '../joined.ts'
import { gathered } from './gathered.ts'
import { deliveryRecords, type WebhookTables } from './tables.ts'

interface Row extends Record<'delivery' | 'subscription' | 'body', string> {
  readonly outages: string | null
}

/** Creates the part of the store for messages. A message is stored with all its deliveries in one statement. Jobs that begin together read together. */
export function messageStore(
  database: Postgres,
  { messages, deliveries, subscriptions, outages }: WebhookTables
): Pick<WebhookStore, 'addMessage' | 'deliveryToSend'> {
  const addition = `WITH wanted AS MATERIALIZED (
      SELECT * FROM json_to_recordset($6::text::json) AS delivery (${deliveryRecords.members})
      WHERE EXISTS (SELECT FROM ${subscriptions} WHERE id = delivery."subscriptionId")
    ), message AS (
      INSERT INTO ${messages} (id, type, happened_at, versions, bodies, deliveries)
      SELECT $1::text, $2::text, $3::double precision, $4::integer[], $5::text[], count(*) FROM wanted HAVING count(*) > 0
      ON CONFLICT DO NOTHING RETURNING id
    ), added AS (
      INSERT INTO ${deliveries} (${deliveryRecords.columns}) SELECT ${deliveryRecords.from('wanted')} FROM wanted, message
    )
    SELECT 'true' AS json FROM message`

  // Each message is looked up separately, whatever number of messages the planner expects. A body inside JSON would be escaped here and
  // parsed there, which takes as long as finding it.
  const sending = `SELECT ${deliveryRecords.json('delivery')}::text AS delivery, subscription.record::text AS subscription, message.body,
      (SELECT json_agg(record)::text FROM ${outages} WHERE owner = subscription.owner) AS outages
    FROM ${deliveries} AS delivery
    JOIN ${subscriptions} AS subscription ON subscription.id = delivery.subscription_id
    CROSS JOIN LATERAL (
      SELECT bodies[array_position(versions, (subscription.record->>'version')::integer)] AS body
      FROM ${messages} WHERE id = delivery.message_id OFFSET 0
    ) AS message
    WHERE delivery.id = ANY($1::uuid[])`

  return {
    deliveryToSend: gathered<string, DeliveryToSend | undefined>(async (ids) => {
      const { rows } = await database.reads(undefined).query<Row>(sending, [ids])
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
    }),
    async addMessage({ id, type, timestamp, bodies }, added, transaction) {
      const versions = Object.keys(bodies).map(Number)
      const values = [id, type, timestamp, versions, Object.values(bodies), JSON.stringify(added)]
      return (await joined(database, transaction).query(addition, values)).length > 0
    }
  }
}
