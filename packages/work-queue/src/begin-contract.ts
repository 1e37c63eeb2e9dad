import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { TestClock } from './clock-contract.ts'
import type { Claim, Handler, Item, Outcome, QueueSettings, Transaction, WorkQueue } from './work-queue.ts'

/** Runs one test, as the runner of the caller does: `(title, run) => test(title, run)`. */
export type RunTest = (title: string, run: () => Promise<void>) => unknown

/** A queue, the clock that it was given, and for a transactional one a way to its database. */
export interface QueueUnderTest {
  readonly queue: WorkQueue
  readonly clock: TestClock
  /** Commits what the work did, or nothing when it throws. */
  readonly transaction?: ((work: (transaction: Transaction) => Promise<void>) => Promise<void>) | undefined
}

export type Create = () => QueueUnderTest | Promise<QueueUnderTest>

export const seconds = 1000
export const done: Outcome = { done: true }
/** Nothing is looked for, and no lease runs out, in between: the queue knows of what it was told and of its own retries. */
export const rarely: { readonly leaseSeconds: number; readonly pollSeconds: number } = { leaseSeconds: 864_000, pollSeconds: 864_000 }

/** What each test begins with: a queue of its own. */
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
