import { setImmediate } from 'node:timers/promises'
import type { Outcome, Transaction } from '@concordat/work-queue'
import type { Db } from 'pg-boss'
import type { QueueParts } from './engine.ts'
import { attemptOf, type Slot } from './slots.ts'

type Job = Slot['job']
type Shared = Exclude<Outcome, { readonly dead: true }>

interface Ending {
  readonly job: Job
  readonly outcome: Shared
  readonly settle: (isWritten: boolean) => void
}

const atOnce = 500

/**
 * Creates a function that completes or postpones jobs in batches: the jobs that finish while a batch is being written share the next transaction. It
 * returns false for a job whose transaction was rolled back, because the failure may belong to another job.
 */
export function sharedEndings({ boss, database, schema, name }: QueueParts): (job: Job, outcome: Shared) => Promise<boolean> {
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
    if (batch.every(({ outcome }) => 'done' in outcome && outcome.write === undefined)) {
      await boss.complete(name, attemptsOf(batch))
      return
    }
    await database.transaction(async (transaction) => {
      const db = database.join(transaction)
      const held = new Set([...(await end(batch, db)), ...(await retry(batch, db))])
      const shared = inTurn(transaction)
      const writes = await Promise.allSettled(
        batch.map(async ({ job, outcome }) => (held.has(job.id) ? outcome.write?.(shared) : undefined))
      )
      // Thrown only now, when none of them still has a running query.
      for (const written of writes) if (written.status === 'rejected') throw written.reason
    })
  }

  async function end(batch: readonly Ending[], db: Db) {
    const ended = attemptsOf(batch.filter(({ outcome }) => 'done' in outcome))
    return ended.length === 0 ? [] : settledOf(await boss.complete(name, ended, null, { db }))
  }

  async function retry(batch: readonly Ending[], db: Db) {
    const retried = batch.filter(({ outcome }) => 'retryInSeconds' in outcome)
    if (retried.length === 0) return []
    const settled = settledOf(await boss.fail(name, attemptsOf(retried), null, { db }))
    const seconds = new Map(retried.map(({ job, outcome }) => [job.id, 'retryInSeconds' in outcome ? outcome.retryInSeconds : 0]))
    const sql = `UPDATE ${schema}.job SET start_after = ${schema}.job_now() + later.seconds * interval '1 second'
      FROM unnest($2::uuid[], $3::double precision[]) AS later (id, seconds) WHERE job.name = $1 AND job.id = later.id`
    await db.executeSql(sql, [name, settled, settled.map((id) => Math.max(0, seconds.get(id) ?? 0))])
    return settled
  }

  return (job, outcome) =>
    new Promise((settle) => {
      waiting.push({ job, outcome, settle })
      if (!isWriting) void writeAll()
    })
}

function attemptsOf(batch: readonly Ending[]) {
  return batch.map(({ job }) => attemptOf(job))
}

function settledOf(response: unknown) {
  return (response as { readonly settled: readonly string[] }).settled
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
