import type { Outage, Receiver, WebhookStore } from '@concordat/webhooks'
import type { Postgres, Queries } from '../connections/postgres.ts'
import { joined, within } from '../joined.ts'
import type { WebhookTables } from './tables.ts'

type Change = (current: Outage | undefined) => Outage | undefined

/** Creates the part of the store for the outages of receivers. The table has rows only while receivers fail. */
export function outageStore(
  database: Postgres,
  { outages }: WebhookTables
): Pick<WebhookStore, 'outage' | 'changeOutage' | 'pausedReceivers'> {
  // The row may not exist, and then cannot be locked. The row is read with a statement of its own, so that it shows what was committed during the wait.
  async function lock(queries: Queries, take: string, { owner, origin }: Receiver) {
    const key = JSON.stringify([outages, owner, origin])
    await queries.query(`SELECT 'true' AS json FROM ${take}(hashtextextended($1, 0))`, [key])
  }

  async function read(queries: Queries, { owner, origin }: Receiver) {
    const sql = `SELECT record::text AS json FROM ${outages} WHERE owner = $1 AND origin = $2`
    return (await queries.query<Outage>(sql, [owner, origin]))[0]
  }

  async function changeIn(queries: Queries, { owner, origin }: Receiver, change: Change) {
    await lock(queries, 'pg_advisory_xact_lock', { owner, origin })
    const current = await read(queries, { owner, origin })
    const changed = change(current)
    if (changed === current) return current
    if (changed === undefined) await queries.query(`DELETE FROM ${outages} WHERE owner = $1 AND origin = $2`, [owner, origin])
    else
      await queries.query(
        `INSERT INTO ${outages} (owner, origin, record) VALUES ($1, $2, $3::text::json)
        ON CONFLICT (owner, origin) DO UPDATE SET record = excluded.record`,
        [owner, origin, JSON.stringify(changed)]
      )
    return changed
  }

  return {
    async outage(receiver, transaction) {
      const queries = joined(database, transaction)
      if (transaction !== undefined) await lock(queries, 'pg_advisory_xact_lock_shared', receiver)
      return read(queries, receiver)
    },
    async pausedReceivers(limit) {
      const sql = `SELECT count(*)::text AS json FROM (SELECT FROM ${outages} WHERE record ->> 'isPaused' = 'true' LIMIT $1) AS counted`
      return (await database.query<number>(sql, [limit]))[0] as number
    },
    changeOutage: (receiver, change, transaction) => within(database, transaction, (queries) => changeIn(queries, receiver, change))
  }
}
