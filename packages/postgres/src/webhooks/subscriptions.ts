import { inTenant } from '@concordat/plugin-kit/wiring'
import type { Subscription, WebhookStore } from '@concordat/webhooks'
import type { Postgres, Queries } from '../connections/postgres.ts'
import { joined, within } from '../joined.ts'
import { expiredRows } from '../sweep.ts'
import { ownedBy, pageOf, type WebhookTables } from './tables.ts'

type Methods = 'addSubscription' | 'subscription' | 'subscriptionsOf' | 'subscribersOf' | 'changeSubscription' | 'removeSubscription'

/** Creates the part of the store for subscriptions, and for the number of their changes. */
export function subscriptionStore(
  database: Postgres,
  { subscriptions, removals, changes }: WebhookTables
): Pick<WebhookStore, Methods | 'countChange'> {
  async function change(queries: Queries, id: string, change: (current: Subscription) => Subscription) {
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

  async function add(queries: Queries, subscription: Subscription, maxOfOwner: number) {
    // One after another for each owner. The count is a statement of its own, so that it sees what was committed during the wait.
    await queries.query(`SELECT 'true' AS json FROM pg_advisory_xact_lock(hashtextextended($1, 0))`, [
      `${subscriptions} ${ownerKey(subscription)}`
    ])
    const added = await queries.query(
      `INSERT INTO ${subscriptions} (id, owner, event_types, is_enabled, record, tenant)
      SELECT $1::uuid, $2, $3::text[], $4::boolean, $5::text::json, $7
      WHERE (SELECT count(*) FROM (SELECT FROM ${subscriptions} WHERE owner = $2 LIMIT $6::integer) AS own) < $6::integer
      RETURNING 'true' AS json`,
      [...rowOf(subscription), maxOfOwner, subscription.tenant ?? null]
    )
    return added.length > 0
  }

  return {
    addSubscription: (subscription, maxOfOwner, transaction) =>
      within(database, transaction, (queries) => add(queries, subscription, maxOfOwner)),
    async subscription(id, transaction) {
      const sql = `SELECT record::text AS json FROM ${subscriptions} WHERE id = $1::uuid`
      return (await joined(database, transaction).query<Subscription>(sql, [id]))[0]
    },
    async subscriptionsOf(owner, input, transaction) {
      const [own, value] = ownedBy(owner)
      const { condition, order, values } = pageOf(value, input)
      const sql = `SELECT record::text AS json FROM ${subscriptions} WHERE ${own} ${condition} ${order}`
      return joined(database, transaction).query(sql, values)
    },
    async subscribersOf({ eventType, tenant, owner, audiences }, transaction) {
      const topics =
        audiences === undefined ? [inTenant(eventType, tenant)] : audiences.map((audience) => topicOf(eventType, audience, tenant))
      const own = owner === undefined ? '' : 'AND owner = $2'
      return joined(database, transaction).query(
        `SELECT record::text AS json FROM ${subscriptions} WHERE is_enabled AND event_types && $1::text[] ${own} ORDER BY id`,
        owner === undefined ? [topics] : [topics, owner]
      )
    },
    changeSubscription: (id, make, transaction) => within(database, transaction, (queries) => change(queries, id, make)),
    countChange: changeCount(database, changes),
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

/** Creates the function that counts the changes of an owner. */
function changeCount(database: Postgres, changes: string): WebhookStore['countChange'] {
  const recent = 'ARRAY(SELECT time FROM unnest(counted.times) AS time WHERE time > $3::double precision ORDER BY time)'
  // The row of the owner is locked until the commit, so concurrent changes are counted one after another. Each count also removes some owners whose
  // changes no longer count.
  const count = `WITH ended AS (
      DELETE FROM ${changes} WHERE owner <> $1 AND ${expiredRows(changes, 'ends_at', '$2', '100')}
    )
    INSERT INTO ${changes} AS counted (owner, times, ends_at)
    VALUES ($1, ARRAY[$2::double precision], 2 * $2::double precision - $3)
    ON CONFLICT (owner) DO UPDATE SET times = ${recent} || $2::double precision, ends_at = excluded.ends_at
    WHERE cardinality(${recent}) < $4::integer
    RETURNING 'true' AS json`
  const oldest = `SELECT min(time)::text AS json FROM ${changes} AS counted, unnest(counted.times) AS time WHERE owner = $1 AND time > $2`

  return async ({ owner, now, since, limit }, transaction) => {
    const queries = joined(database, transaction)
    if ((await queries.query(count, [owner, now, since, limit])).length > 0) return undefined
    return (await queries.query<number>(oldest, [owner, since]))[0]
  }
}

function rowOf(subscription: Subscription) {
  const { id, tenant, audience, eventTypes, status } = subscription
  // Each type by itself, and with the audience: both are found in one index.
  const topics = eventTypes.flatMap((type) => [inTenant(type, tenant), topicOf(type, audience, tenant)])
  return [id, ownerKey(subscription), topics, status === 'enabled', JSON.stringify(subscription)]
}

function ownerKey({ owner, tenant }: Subscription) {
  return inTenant(owner, tenant)
}

function topicOf(eventType: string, audience: string, tenant: string | undefined) {
  return inTenant(`${eventType} ${audience}`, tenant)
}
