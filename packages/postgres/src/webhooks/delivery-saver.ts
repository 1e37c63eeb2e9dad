import type { Attempt, Delivery } from '@concordat/webhooks'
import type { Transaction } from '@concordat/work-queue'
import { joined } from '../joined.ts'
import type { Postgres } from '../postgres.ts'
import { gathered } from './gathered.ts'
import { attemptRecords, deliveryRecords } from './records.ts'
import type { WebhookTables } from './tables.ts'

interface Saved {
  readonly delivery: Delivery
  readonly attempt: Attempt | undefined
}

/** Writes what became of deliveries, each with its attempt. */
export interface DeliverySaver {
  all(saved: readonly Saved[], transaction: Transaction | undefined): Promise<void>
  /** Those that are saved side by side in one transaction go in one statement. */
  one(delivery: Delivery, attempt: Attempt | undefined, transaction?: Transaction): Promise<void>
}

export function deliverySaver(database: Postgres, { deliveries, attempts }: WebhookTables): DeliverySaver {
  const perTransaction = new WeakMap<object, (saved: Saved) => Promise<unknown>>()
  // The attempt of a delivery that is gone has nothing to join.
  const sql = `WITH saved AS (
      UPDATE ${deliveries} AS delivery
      SET status = next.status, attempts = next.attempts, round_start = next."roundStart",
        next_attempt_at = next."nextAttemptAt", ended_at = next."endedAt"
      FROM json_to_recordset($1::text::json) AS next (${deliveryRecords.members})
      WHERE delivery.id = next.id
      RETURNING delivery.id
    )
    INSERT INTO ${attempts} (${attemptRecords.columns})
    SELECT ${attemptRecords.from('attempt')}
    FROM json_to_recordset($2::text::json) AS attempt (${attemptRecords.members}) JOIN saved ON saved.id = attempt."deliveryId"`

  async function all(saved: readonly Saved[], transaction: Transaction | undefined) {
    const tried = saved.flatMap(({ attempt }) => attempt ?? [])
    await joined(database, transaction).query(sql, [JSON.stringify(saved.map(({ delivery }) => delivery)), JSON.stringify(tried)])
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
