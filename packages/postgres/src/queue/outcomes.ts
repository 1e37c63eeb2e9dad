import { inspect } from 'node:util'
import { type Outcome, retryAfterThrowSeconds } from '@concordat/work-queue'
import type { Db } from 'pg-boss'
import type { QueueParts } from './engine.ts'
import { sharedEndings } from './shared-endings.ts'
import { attemptOf, type Slot } from './slots.ts'

type Job = Slot['job']

/** The retry limit that is set in pg-boss, so high that only the handler decides whether a job is retried. */
export const unlimited = 1_000_000
const deadLetterSeconds = 30 * 86_400

/** Creates the function that stores the outcome of an attempt and returns the number of seconds until the job is retried, if it is. */
export function outcomeWriter(parts: QueueParts): (job: Job, outcome: Outcome) => Promise<number | undefined> {
  const { boss, database, name, onError } = parts
  const together = sharedEndings(parts)

  /** Ends an attempt and returns whether it still owned the job. From then on, no other process changes the job until the transaction ends. */
  async function end(job: Job, outcome: Outcome, db: Db) {
    if ('done' in outcome) return changed(await boss.complete(name, attemptOf(job), null, { db })) > 0
    if (changed(await boss.fail(name, attemptOf(job), describe(outcome.error), { db })) === 0) return false
    if ('retryInSeconds' in outcome) {
      await boss.update(name, undefined, { id: job.id, startAfter: interval(outcome.retryInSeconds), db })
    } else {
      await boss.update(name, undefined, { id: job.id, retryLimit: 0, deleteAfterSeconds: deadLetterSeconds, db })
      await boss.fail(name, job.id, describe(outcome.error), { db })
    }
    return true
  }

  function endAlone(job: Job, outcome: Outcome) {
    return database.transaction(async (transaction) => {
      if (await end(job, outcome, database.join(transaction))) await outcome.write?.(transaction)
    })
  }

  return async (job, outcome) => {
    try {
      const mayShare = outcome.mayShare === true || ('done' in outcome && outcome.write === undefined)
      if (!mayShare || 'dead' in outcome || !(await together(job, outcome))) await endAlone(job, outcome)
      return 'retryInSeconds' in outcome ? outcome.retryInSeconds : undefined
    } catch (error) {
      onError(error)
      // If this fails too, the lease expires.
      await endAlone(job, { retryInSeconds: retryAfterThrowSeconds, error }).catch(onError)
      return retryAfterThrowSeconds
    }
  }
}

/** Formats seconds as an interval of PostgreSQL. */
export function interval(seconds: number): string {
  return Math.max(0, seconds).toFixed(3)
}

/** Returns how many jobs a statement of pg-boss changed. */
export function changed(result: unknown): number {
  return (result as { readonly affected: number }).affected
}

// A value that JSON or PostgreSQL does not have would fail the outcome itself, so that the job runs again.
function describe(error: unknown) {
  if (error instanceof Error) return { name: storable(error.name), message: storable(error.message) }
  return { value: storable(typeof error === 'string' ? error : inspect(error)) }
}

function storable(text: string) {
  return text.replaceAll('\0', '\ufffd').toWellFormed()
}
