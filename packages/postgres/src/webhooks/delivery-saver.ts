import type { Attempt, Delivery } from '@concordat/webhooks'
import type { Transaction } from '@concordat/work-queue'
import { joined } from '../joined.ts'
import type { Postgres } from '../postgres.ts'
import { gathered } from './gathered.ts'
import { attemptRecords } from './records.ts'
import type { WebhookTables } from './tables.ts'

interface Saved {
  readonly delivery: Delivery
  readonly attempt: Attempt | undefined
}

/** Stores the outcome of deliveries, each with its attempt. */
export interface DeliverySaver {
  all(saved: readonly Saved[], transaction: Transaction | undefined): Promise<void>
  /** Stores one delivery. Deliveries that are stored at the same time in one transaction share one statement. */
  one(delivery: Delivery, attempt: Attempt | undefined, transaction?: Transaction): Promise<void>
}

export function deliverySaver(database: Postgres, { deliveries, attempts }: WebhookTables): DeliverySaver {
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

  async function all(saved: readonly Saved[], transaction: Transaction | undefined) {
    await joined(database, transaction).query(sql, [JSON.stringify(saved.map(rowOf))])
  }

  function saverIn(transaction: Transaction | undefined) {
    const known = perTransaction.get(transaction ?? database)
    if (known !== undefined) return known
    const save = gathered<Saved, undefined>(async (saved) => {
      await all(saved, transaction)
      return []
    })
    perTransaction.set(transaction ?? database, save)
    return save
  }

  return {
    all,
    async one(delivery, attempt, transaction) {
      await saverIn(transaction)({ delivery, attempt })
    }
  }
}

/** Returns the fields of a delivery that change, with its attempt. */
function rowOf({ delivery: { id: deliveryId, status, attempts, roundStart, nextAttemptAt, endedAt, jobId }, attempt }: Saved) {
  return { ...attempt, deliveryId, status, attempts, roundStart, nextAttemptAt, endedAt, jobId }
}
