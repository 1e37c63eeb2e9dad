import type { CountSelection, Delivery, DeliverySelection, WebhookStore } from '@concordat/webhooks'
import type { Postgres, Queries } from '../connections/postgres.ts'
import { joined, within } from '../joined.ts'
import { deliverySaver } from './delivery-saver.ts'
import { attemptRecords, deliveryRecords, ownedBy, pageOf, type WebhookTables } from './tables.ts'

type Methods = 'delivery' | 'deliveriesOf' | 'attemptsOf' | 'count' | 'saveDelivery' | 'changeDeliveries'

const statuses = ['pending', 'delivered', 'failed', 'cancelled']

/** Creates the part of the store for deliveries and their attempts. Those of a removed subscription are no longer found. */
export function deliveryStore(database: Postgres, tables: WebhookTables): Pick<WebhookStore, Methods> {
  const { subscriptions, deliveries, attempts } = tables
  const save = deliverySaver(database, tables)
  const delivery = deliveryRecords.json('delivery')
  const subscriptionExists = `EXISTS (SELECT FROM ${subscriptions} WHERE id = delivery.subscription_id)`

  // The rows to count, and the values of their statement. `$2` is the limit.
  function countedRows(selection: CountSelection, limit: number): readonly [rows: string, values: readonly unknown[]] {
    if ('owner' in selection) {
      const [own, value] = ownedBy(selection.owner)
      return [`${subscriptions} WHERE ${own}`, [value, limit]]
    }
    if ('deliveryId' in selection) {
      const isKept = `EXISTS (SELECT FROM ${deliveries} AS delivery WHERE id = $1::uuid AND ${subscriptionExists})`
      return [`${attempts} WHERE delivery_id = $1::uuid AND ${isKept}`, [selection.deliveryId, limit]]
    }
    const { subscriptionId, status } = selection
    const rows = `${deliveries} WHERE subscription_id = $1::uuid AND EXISTS (SELECT FROM ${subscriptions} WHERE id = $1::uuid)`
    return status === undefined ? [rows, [subscriptionId, limit]] : [`${rows} AND status = $3`, [subscriptionId, limit, status]]
  }

  async function change(queries: Queries, selection: DeliverySelection, change: (delivery: Delivery) => Delivery) {
    const { condition, order, values } = selected(selection)
    const found = await queries.query<Delivery>(
      `SELECT ${delivery}::text AS json FROM ${deliveries} AS delivery
      WHERE subscription_id = $1::uuid AND ${condition} AND ${subscriptionExists} ${order} FOR UPDATE`,
      values
    )
    const changed = found.map(change)
    const different = changed.filter((one, index) => one !== found[index])
    const saved = different.map((one) => ({ delivery: one, attempt: undefined }))
    if (saved.length > 0) await save.all(saved, queries)
    return changed
  }

  return {
    saveDelivery: async (one, attempt, transaction) => save.one(one, attempt, transaction),
    async delivery(id, transaction) {
      const sql = `SELECT ${delivery}::text AS json FROM ${deliveries} AS delivery WHERE id = $1::uuid AND ${subscriptionExists}`
      return (await joined(database, transaction).query<Delivery>(sql, [id]))[0]
    },
    async deliveriesOf(subscriptionId, { status, ...input }, transaction) {
      const { condition, order, values } = pageOf(subscriptionId, input)
      // The index returns each part in order, so that at most a page of each is read.
      const parts = (status === undefined ? statuses : [status]).map(
        (one) => `(SELECT * FROM ${deliveries} AS delivery
          WHERE subscription_id = $1::uuid AND status = '${one}' ${condition} AND ${subscriptionExists} ${order})`
      )
      return joined(database, transaction).query(
        `SELECT ${delivery}::text AS json FROM (${parts.join(' UNION ALL ')}) AS delivery ${order}`,
        values
      )
    },
    async attemptsOf(deliveryId, input, transaction) {
      const { condition, order, values } = pageOf(deliveryId, input)
      return joined(database, transaction).query(
        `SELECT ${attemptRecords.json('attempt')}::text AS json FROM ${attempts} AS attempt
        WHERE delivery_id = $1::uuid ${condition} AND EXISTS (SELECT FROM ${deliveries} AS delivery WHERE id = $1::uuid AND ${subscriptionExists}) ${order}`,
        values
      )
    },
    async count(selection, limit, transaction) {
      const [rows, values] = countedRows(selection, limit)
      const sql = `SELECT count(*)::text AS json FROM (SELECT FROM ${rows} LIMIT $2) AS counted`
      return (await joined(database, transaction).query<number>(sql, values))[0] as number
    },
    changeDeliveries: (selection, make, transaction) => within(database, transaction, (queries) => change(queries, selection, make))
  }
}

/** Returns the SQL of a selection. `$1` is the subscription. */
function selected(selection: DeliverySelection) {
  const { subscriptionId } = selection
  if ('id' in selection) {
    const condition = `id = $2::uuid AND status <> 'pending'`
    return { condition, order: '', values: [subscriptionId, selection.id] }
  }
  const { since, until, limit } = selection
  if ('pendingAfter' in selection) {
    return {
      condition: `status = 'pending' AND id > $4::uuid AND created_at >= $2 AND created_at < $3`,
      order: 'ORDER BY id LIMIT $5',
      values: [subscriptionId, since, until, selection.pendingAfter, limit]
    }
  }
  const { endedBefore } = selection
  return {
    condition: `status IN ('failed', 'cancelled') AND created_at >= $2 AND created_at < $3 AND ended_at < $4`,
    order: 'ORDER BY created_at, id LIMIT $5',
    values: [subscriptionId, since, until, endedBefore, limit]
  }
}
