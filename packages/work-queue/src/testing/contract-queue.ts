import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { QueueSettings, WorkOptions } from '../options.ts'
import type { Claim, Handler, Item, Outcome, Transaction, WorkQueue } from '../work-queue.ts'
import type { TestClock } from './test-clock.ts'

/** Queue to test, its clock, and for a transactional queue a function that opens a transaction. */
interface QueueUnderTest {
  readonly queue: WorkQueue
  readonly clock: TestClock
  /** Runs `work` in a transaction: commits it, or rolls it back when `work` throws. */
  readonly transaction?: ((work: (transaction: Transaction) => Promise<void>) => Promise<void>) | undefined
}

export type Create = () => QueueUnderTest | Promise<QueueUnderTest>

export const seconds = 1000
export const done: Outcome = { done: true }
/** With both, no lease expires and no poll happens during a test: the queue finds only jobs that it was notified of, and its own retries. */
export const longLease: QueueSettings = { leaseSeconds: 864_000 }
export const rarely: Pick<WorkOptions, 'pollSeconds'> = { pollSeconds: 864_000 }

/** Initial state of a test, with a queue of its own. */
export interface Begun extends QueueUnderTest {
  readonly name: string
  readonly enqueue: (...payloads: unknown[]) => Promise<string[]>
}

export async function begin(create: Create, settings: QueueSettings = {}): Promise<Begun> {
  const { queue, clock, transaction } = await create()
  const name = `contract-${randomUUID()}`
  await queue.define(name, settings)
  return { queue, clock, transaction, name, enqueue: (...payloads: unknown[]) => queue.enqueue(name, payloads.map(itemOf)) }
}

export function noteClaim(claims: Claim[]): Handler {
  return async (claim) => {
    claims.push(claim)
    return done
  }
}

export function notePayload(payloads: unknown[]): Handler {
  return async ({ payload }) => {
    payloads.push(payload)
    return done
  }
}

export function itemOf(payload: unknown): Item {
  return { payload }
}

export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await setImmediate()
}
