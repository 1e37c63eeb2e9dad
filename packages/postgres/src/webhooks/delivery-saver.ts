import type { Attempt, Delivery } from '@concordat/webhooks'
import type { Transaction } from '@concordat/work-queue'
import type { Postgres, Queries } from '../connections/postgres.ts'
import { joined } from '../joined.ts'
import { gathered } from './gathered.ts'
import { attemptRecords, type WebhookTables } from './tables.ts'

interface Saved {
  readonly delivery: Delivery
  readonly attempt: Attempt | undefined
}

/** Creates the functions that store the outcome of deliveries, each with its attempt. */
export function deliverySaver(database: Postgres, { deliveries, attempts }: WebhookTables) {
  const perTransaction = new WeakMap<object, (saved: Saved) => Promise<unknown>>()
  // The attempt of a deleted delivery is not stored.
  const sql = `WITH saved AS (
      UPDATE ${deliveries} AS delivery
      SET status = next.status, attempts = next.attempts, round_start = next."roundStart",
        next_attempt_at = next."nextAttemptAt", ended_at = next."endedAt", job_id = next."jobId"
      FROM json_to_recordset($1::text::json) AS next (
        status text, attempts integer, "roundStart" integer, "nextAttemptAt" double precision, "endedAt" double precision, "jobId" uuid,
        ${attemptRecords.members}
      )
      WHERE delivery.id = next."deliveryId"
      RETURNING next.*
    )
    INSERT INTO ${attempts} (${attemptRecords.columns}) SELECT ${attemptRecords.from('saved')} FROM saved WHERE id IS NOT NULL`

  const all = (saved: readonly Saved[], queries: Queries) => queries.query<undefined>(sql, [JSON.stringify(saved.map(rowOf))])

  return {
    all,
    /** Stores one delivery. Deliveries that are stored at the same time in one transaction share one statement. */
    async one(delivery: Delivery, attempt: Attempt | undefined, transaction?: Transaction): Promise<void> {
      const place = transaction ?? database
      const save = perTransaction.get(place) ?? gathered<Saved, undefined>((saved) => all(saved, joined(database, transaction)))
      perTransaction.set(place, save)
      await save({ delivery, attempt })
    }
  }
}

/** Returns the fields of a delivery that change, with its attempt. */
function rowOf({ delivery: { id: deliveryId, status, attempts, roundStart, nextAttemptAt, endedAt, jobId }, attempt }: Saved) {
  return { ...attempt, deliveryId, status, attempts, roundStart, nextAttemptAt, endedAt, jobId }
}
