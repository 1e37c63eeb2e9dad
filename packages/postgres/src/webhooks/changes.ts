import type { WebhookStore } from '@concordat/webhooks'
import { joined } from '../joined.ts'
import type { Postgres } from '../postgres.ts'
import type { WebhookTables } from './tables.ts'

/** Creates the part of the store that counts the changes of owners. Each count also removes some owners whose changes no longer count. */
export function changeStore(database: Postgres, { changes }: WebhookTables): Pick<WebhookStore, 'countChange'> {
  const recent = 'ARRAY(SELECT time FROM unnest(counted.times) AS time WHERE time > $3::double precision ORDER BY time)'
  // The row of the owner is locked until the commit, so concurrent changes are counted one after another.
  const count = `WITH ended AS (
      DELETE FROM ${changes} WHERE owner IN (
        SELECT owner FROM ${changes} WHERE ends_at <= $2 AND owner <> $1 ORDER BY ends_at LIMIT 10 FOR UPDATE SKIP LOCKED
      )
    )
    INSERT INTO ${changes} AS counted (owner, times, ends_at)
    VALUES ($1, ARRAY[$2::double precision], 2 * $2::double precision - $3)
    ON CONFLICT (owner) DO UPDATE SET times = ${recent} || $2::double precision, ends_at = excluded.ends_at
    WHERE cardinality(${recent}) < $4::integer
    RETURNING 'true' AS json`
  const oldest = `SELECT min(time)::text AS json FROM ${changes} AS counted, unnest(counted.times) AS time WHERE owner = $1 AND time > $2`

  return {
    async countChange({ owner, now, since, limit }, transaction) {
      const queries = joined(database, transaction)
      if ((await queries.query(count, [owner, now, since, limit])).length > 0) return undefined
      return (await queries.query<number>(oldest, [owner, since]))[0]
    }
  }
}
