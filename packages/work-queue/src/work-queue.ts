import type { Clock, QueueSettings, WorkOptions } from './options.ts'

/** Open database transaction, within which `query` runs SQL. A client of `pg`, a transaction of PGlite, or a wrapper of either. */
export interface Transaction {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: unknown[] }>
  /** Registers a function to call after the commit. Jobs and webhooks then wake their workers, which otherwise find the work at their next poll. */
  readonly afterCommit?: ((callback: () => void) => void) | undefined
}

/** Job to enqueue. */
export interface Item {
  /** Id of the job, a UUID. An id is known until a day after its job has ended; until then it is not enqueued again. @default a new UUID */
  readonly id?: string | undefined
  /** A JSON value, preferably only an id: store the data of the job in your own table. */
  readonly payload: unknown
  /** Key by which an ordered queue, or a worker with `perKey`, groups jobs. */
  readonly key?: string | undefined
  /** Part of the jobs of a key, in a queue without order. It runs about two thirds of `perKey` at most, so that other parts are not stopped by it. */
  readonly part?: string | undefined
  /** Minimum delay before the job starts. @default 0 */
  readonly delaySeconds?: number | undefined
  /** The trace that the job continues, in the form of the header `traceparent`. */
  readonly trace?: string | undefined
}

/** Attempt of a job. `attempt` counts all starts from 1, for any reason, so the id and `attempt` together identify one attempt. */
export interface Claim {
  readonly id: string
  readonly payload: unknown
  readonly attempt: number
  readonly trace?: string | undefined
  /** Aborted when the job is cancelled, the worker stops or the lease is lost. The handler's outcome may then be ignored. */
  readonly signal: AbortSignal
}

/**
 * Outcome of an attempt, which commits with the changes of `write` or not at all, and only while the attempt holds the job. When `write` throws, the job
 * is retried. A dead letter is stored for 30 days.
 */
export type Outcome = {
  readonly write?: ((transaction: Transaction | undefined) => Promise<void>) | undefined
  /** Whether several outcomes may be written in one transaction, because `write` locks only its own rows, or others only to read them. @default false */
  readonly mayShare?: boolean | undefined
} & (
  | { readonly done: true }
  | { readonly retryInSeconds: number; readonly error?: unknown }
  | { readonly dead: true; readonly error?: unknown }
)

/** Runs one attempt. When it throws, the job is retried after `retryAfterThrowSeconds`. */
export type Handler = (claim: Claim) => Promise<Outcome>
export const retryAfterThrowSeconds = 10

/** Stops a worker: it starts no more jobs, waits for running jobs (10 seconds), then aborts them. A second later they can start elsewhere. */
export type Stop = (stopGraceSeconds?: number) => Promise<void>

/** Number of jobs of a queue in each state, at most 10,000 of each. */
export interface QueueBacklog {
  readonly name: string
  /** Jobs that could run now. */
  readonly waiting: number
  /** Jobs that start later, such as retries. */
  readonly delayed: number
  readonly running: number
  /** Time since the oldest job that is waiting or delayed was enqueued; 0 without one. */
  readonly oldestSeconds: number
}

/** Queue of jobs that outlive their request. Each job runs at least once after any crash, and exactly once without a crash. */
export interface WorkQueue {
  readonly capabilities: { readonly durable: boolean; readonly transactional: boolean; readonly distributed: boolean }
  /** The source of the time, for what starts jobs later. @default the clock of the system */
  readonly clock?: Clock | undefined
  /** Defines a queue. Call it first, in each process. */
  define(name: string, settings?: QueueSettings): Promise<void>
  /** Enqueues jobs and returns the ids of those that were not known yet. With a transaction, they exist after its commit, or never; call `kick` then. */
  enqueue(name: string, items: readonly Item[], transaction?: Transaction): Promise<string[]>
  /** Starts a worker. A process has one worker per queue. */
  work(name: string, handler: Handler, options: WorkOptions): Stop
  /** Cancels a job that waits, runs or is a dead letter. Returns false if there is no such job. */
  cancel(name: string, id: string): Promise<boolean>
  /** Makes dead letters ready to run again immediately, under the same ids. Returns their number. */
  redrive(name: string, ids: readonly string[]): Promise<number>
  /** Makes waiting jobs ready to start now, with a transaction at its commit; call `kick` then. Returns their number. `write` can promote its own retry. */
  promote(name: string, ids: readonly string[], transaction?: Transaction): Promise<number>
  /** Notifies the worker of this process that there may be new jobs. */
  kick(name: string): void
  /** Returns the backlogs of queues that are defined, with one statement whose cost is bounded. Without it, operators do not see them. */
  readonly backlog?: ((names: readonly string[]) => Promise<readonly QueueBacklog[]>) | undefined
  /** Stops every worker and releases the resources of the queue. */
  close: Stop
}
