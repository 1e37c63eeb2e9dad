import type { WebhookStore } from '@concordat/webhooks'
import type { Postgres, Queries } from '../connections/postgres.ts'
import { joined } from '../joined.ts'
import type { WebhookTables } from './tables.ts'

/** Creates the part of the store that deletes finished deliveries in batches, with their attempts and messages. */
export function sweepStore(
  database: Postgres,
  { removals, messages, deliveries, attempts }: WebhookTables
): Pick<WebhookStore, 'removeEndedBefore'> {
  // An id has the time of its creation, which is before the end of its delivery. Deliveries that are being sent or reopened are skipped
  // until the next sweep.
  const ended = `SELECT id, message_id FROM ${deliveries} WHERE id < $3::uuid AND ended_at < $1 ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED`
  const removal = `WITH taken AS MATERIALIZED (SELECT * FROM json_to_recordset($1::text::json) AS taken (id uuid, message_id text)),
    tried AS (DELETE FROM ${attempts} WHERE delivery_id IN (SELECT id FROM taken)),
    gone AS (DELETE FROM ${deliveries} WHERE id IN (SELECT id FROM taken)),
    lessened AS MATERIALIZED (SELECT message_id, count(*) AS by FROM taken GROUP BY message_id),
    retained AS (
      UPDATE ${messages} SET deliveries = deliveries - by FROM lessened WHERE id = message_id AND deliveries > by
    )
    DELETE FROM ${messages} USING lessened WHERE id = message_id AND deliveries <= by`
  // Of the subscriptions that were removed first: more are examined when these have no delivery left and are a day old.
  const orphaned = `SELECT orphan.id, orphan.message_id
    FROM (SELECT subscription_id FROM ${removals} ORDER BY removed_at LIMIT $1) AS removal, LATERAL (
      SELECT id, message_id FROM ${deliveries} WHERE subscription_id = removal.subscription_id LIMIT $1 FOR UPDATE SKIP LOCKED
    ) AS orphan LIMIT $1`
  // An event that was emitted while its subscription was removed may have added deliveries that were not visible then.
  const settled = `WITH old AS (
      SELECT ctid, subscription_id FROM ${removals} WHERE removed_at < now() - interval '1 day' ORDER BY removed_at LIMIT $1
    ),
    gone AS (
      DELETE FROM ${removals} WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM old WHERE NOT EXISTS (SELECT FROM ${deliveries} AS delivery WHERE delivery.subscription_id = old.subscription_id)
      )) RETURNING 1
    )
    SELECT count(*)::text AS json FROM gone`

  async function remove(queries: Queries, wanted: string, values: readonly unknown[]) {
    const taken = await queries.query<object>(
      `SELECT json_build_object('id', id, 'message_id', message_id)::text AS json FROM (${wanted}) AS wanted`,
      values
    )
    // A separate statement: the one that locks the deliveries does not see attempts that were added meanwhile.
    if (taken.length > 0) await queries.query(removal, [JSON.stringify(taken)])
    return taken.length
  }

  return {
    removeEndedBefore: (time, limit) =>
      database.background.transaction(async (own) => {
        const queries = joined(database, own)
        // If two sweeps removed the last two deliveries of a message at the same time, neither would see that no other is left.
        const [isAlone] = await queries.query<boolean>(
          `SELECT pg_try_advisory_xact_lock(hashtext('concordat webhook sweep'), hashtext($1))::text AS json`,
          [deliveries]
        )
        if (isAlone !== true) return 0
        const count = await remove(queries, ended, [time, limit, firstIdOf(time)])
        if (count === limit) return count
        const orphans = await remove(queries, orphaned, [limit - count])
        const [settledCount = 0] = await queries.query<number>(settled, [limit])
        return settledCount === limit ? limit : count + orphans
      })
  }
}

/** Returns the smallest UUIDv7 with this timestamp, in milliseconds since the Unix epoch. */
function firstIdOf(time: number) {
  const digits = Math.max(0, Math.ceil(time)).toString(16).padStart(12, '0')
  return `${digits.slice(0, 8)}-${digits.slice(8)}-7000-8000-000000000000`
}
