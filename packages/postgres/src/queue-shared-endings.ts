import { setImmediate } from 'node:timers/promises'
import type { Outcome, Transaction } from '@concordat/work-queue'
import type { PgBoss } from 'pg-boss'
import type { QueueDatabase } from './queue-database.ts'
import { attemptOf, type Slot } from './queue-slots.ts'

type Job = Slot['job']
type Write = Outcome['write']

interface Ending {
  readonly job: Job
  readonly write: Write
  readonly settle: (isWritten: boolean) => void
}

const atOnce = 500

/**
 * Creates a function that completes jobs in batches: the jobs that finish while a batch is being written share the next transaction. It
 * returns false for a job whose transaction was rolled back, because the failure may belong to another job.
 */
export function sharedEndings(boss: PgBoss, database: QueueDatabase, name: string): (job: Job, write: Write) => Promise<boolean> {
  const waiting: Ending[] = []
  let isWriting = false

  async function writeAll() {
    isWriting = true
    // Wait for all jobs that end at the same moment.
    await setImmediate()
    while (waiting.length > 0) {
      const batch = waiting.splice(0, atOnce)
      const isWritten = await complete(batch).then(
        () => true,
        () => false
      )
      for (const { settle } of batch) settle(isWritten)
    }
    isWriting = false
  }

  async function complete(batch: readonly Ending[]) {
    const attempts = batch.map(({ job }) => attemptOf(job))
    if (batch.every(({ write }) => write === undefined)) {
      await boss.complete(name, attempts)
      return
    }
    await database.transaction(async (transaction) => {
      const { settled } = (await boss.complete(name, attempts, null, { db: database.join(transaction) })) as unknown as Settled
      const held = new Set(settled)
      const shared = inTurn(transaction)
      const writes = await Promise.allSettled(batch.map(async ({ job, write }) => (held.has(job.id) ? write?.(shared) : undefined)))
      // Thrown only now, when none of them still has a running query.
      for (const written of writes) if (written.status === 'rejected') throw written.reason
    })
  }

  return (job, write) =>
    new Promise((settle) => {
      waiting.push({ job, write, settle })
      if (!isWriting) void writeAll()
    })
}

interface Settled {
  readonly settled: readonly string[]
}

/** Makes the transaction usable by several callers at the same time: their statements run one after another. */
function inTurn(transaction: Transaction): Transaction {
  let last: Promise<unknown> = Promise.resolve()
  return {
    query(text, values) {
      const result = last.then(() => transaction.query(text, values))
      last = result.catch(() => {})
      return result
    }
  }
}
