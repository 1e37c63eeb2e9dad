import type { WebhookStore } from '@concordat/webhooks'
import { joined } from '../joined.ts'
import type { Postgres } from '../postgres.ts'
import { deliveryRecords } from './records.ts'
import type { WebhookTables } from './tables.ts'

/**
 * Creates the part of the store for messages. A message is stored with its deliveries in one statement, for any number of subscriptions.
 */
export function messageStore(database: Postgres, { messages, deliveries, subscriptions }: WebhookTables): Pick<WebhookStore, 'addMessage'> {
  const sql = `WITH wanted AS MATERIALIZED (
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

  return {
    async addMessage({ id, type, timestamp, bodies }, added, transaction) {
      const versions = Object.keys(bodies).map(Number)
      const values = [id, type, timestamp, versions, Object.values(bodies), JSON.stringify(added)]
      return (await joined(database, transaction).query(sql, values)).length > 0
    }
  }
}
