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

  async function add(subscription: Subscription, maxOfOwner: number, transaction: Transaction) {
    const queries = joined(database, transaction)
    // One after another for each owner. The count is a statement of its own, so that it sees what was committed during the wait.
    await queries.query(`SELECT 'true' AS json FROM pg_advisory_xact_lock(hashtextextended($1, 0))`, [
      `${subscriptions} ${subscription.owner}`
    ])
    const added = await queries.query(
      `INSERT INTO ${subscriptions} (id, owner, event_types, is_enabled, record)
      SELECT $1::uuid, $2, $3::text[], $4::boolean, $5::text::json
      WHERE (SELECT count(*) FROM (SELECT FROM ${subscriptions} WHERE owner = $2 LIMIT $6::integer) AS own) < $6::integer
      RETURNING 'true' AS json`,
      [...rowOf(subscription), maxOfOwner]
    )
    return added.length > 0
  }

  return {
    addSubscription: async (subscription, maxOfOwner, transaction) =>
      transaction === undefined
        ? runInSession(database.open({}), (own) => add(subscription, maxOfOwner, own))
        : add(subscription, maxOfOwner, transaction),
    async subscription(id, transaction) {
      const sql = `SELECT record::text AS json FROM ${subscriptions} WHERE id = $1::uuid`
      return (await joined(database, transaction).query<Subscription>(sql, [id]))[0]
    },
    async subscriptionsOf(owner, input, transaction) {
      const { condition, order, values } = pageOf(owner ?? null, input)
      const own = owner === undefined ? '$1::text IS NULL' : 'owner = $1'
      const sql = `SELECT record::text AS json FROM ${subscriptions} WHERE ${own} ${condition} ${order}`
      return joined(database, transaction).query(sql, values)
    },
    async subscribersOf({ eventType, owner, audiences }, transaction) {
      const topics = audiences === undefined ? [eventType] : audiences.map((audience) => topicOf(eventType, audience))
      const own = owner === undefined ? '' : 'AND owner = $2'
      return joined(database, transaction).query(
        `SELECT record::text AS json FROM ${subscriptions} WHERE is_enabled AND event_types && $1::text[] ${own} ORDER BY id`,
        owner === undefined ? [topics] : [topics, owner]
      )
    },
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
  const { id, owner, audience, eventTypes, status } = subscription
  // Each type by itself, and with the audience: both are found in one index.
  const topics = eventTypes.flatMap((type) => [type, topicOf(type, audience)])
  return [id, owner, topics, status === 'enabled', JSON.stringify(subscription)]
}

function topicOf(eventType: string, audience: string) {
  return `${eventType} ${audience}`
}
