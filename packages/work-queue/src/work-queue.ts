/** A transaction that is open; what is sent through it commits with it. A client of `pg`, a transaction of PGlite, or what wraps one. */
export interface Transaction {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: unknown[] }>
}

export interface QueueSettings {
  /** Jobs of one key run one by one, as enqueued; one that waits for its next try, or is dead, holds up its key. Never changes. @default false */
  readonly ordered?: boolean | undefined
  /** A worker silent for so long has lost its jobs. Whole, 10 or more, and longer than a handler keeps the event loop busy. @default 10 */
  readonly leaseSeconds?: number | undefined
}

/** A job to be done. */
export interface Item {
  /** A UUID. One that is known, until a day after its job has ended, is not enqueued again. @default a new one */
  readonly id?: string | undefined
  /** What JSON can say, best an id alone: what the job is about belongs into a table of yours. */
  readonly payload: unknown
  /** What jobs of an ordered queue, or of a worker with `perKey`, are told apart by. */
  readonly key?: string | undefined
  /** Not begun earlier. @default 0 */
  readonly delaySeconds?: number | undefined
}

/** A job that is begun, for the `attempt`th time: counted from 1, whatever the reason, so that with the id it names this attempt alone. */
export interface Claim {
  readonly id: string
  readonly payload: unknown
  readonly attempt: number
  /** Aborted when the job is cancelled, the worker stops or the lease is lost; what the handler answers then may count no more. */
  readonly signal: AbortSignal
}

/**
 * How an attempt ends. What `write` does commits with it, or neither does; it runs only while the attempt holds the job, and where a queue
 * is not transactional, without a transaction. When it throws, the job is tried again. A dead letter is kept for 30 days.
 */
export type Outcome = {
  readonly write?: ((transaction: Transaction | undefined) => Promise<void>) | undefined
  /** What `write` locks is this job's alone: jobs done together may share a transaction, and are written alone if it fails. @default false */
  readonly mayShare?: boolean | undefined
} & (
  | { readonly done: true }
  | { readonly retryInSeconds: number; readonly error?: unknown }
  | { readonly dead: true; readonly error?: unknown }
)

/** Does one attempt. When it throws, the job is tried again after `retryAfterThrowSeconds`. */
export type Handler = (claim: Claim) => Promise<Outcome>
export const retryAfterThrowSeconds = 10

/** `concurrency` jobs at once in this process, at most about `perKey` of one key in all; what nobody tells of is found in `pollSeconds` (0.5). */
export interface WorkOptions {
  readonly concurrency: number
  readonly perKey?: number | undefined
  readonly pollSeconds?: number | undefined
}

/** Begins no more, waits for what runs (10 seconds), then aborts it; a second later it is handed back, to be begun again at once. */
export type Stop = (graceSeconds?: number) => Promise<void>

/** Jobs that outlive the request: done at least once, after whatever crash, and without a crash exactly once. */
export interface WorkQueue {
  readonly capabilities: { readonly durable: boolean; readonly transactional: boolean; readonly distributed: boolean }
  /** Makes a queue ready: first of all, in each process. */
  define(name: string, settings?: QueueSettings): Promise<void>
  /** Answers the ids that were not known. With a transaction they exist from its commit on, or never; call `kick` then, or they wait for a look. */
  enqueue(name: string, items: readonly Item[], transaction?: Transaction): Promise<string[]>
  /** Begins to do jobs; a process has one worker a queue. */
  work(name: string, handler: Handler, options: WorkOptions): Stop
  /** Takes back a job that waits, runs or is dead. Answers false when there is none. */
  cancel(name: string, id: string): Promise<boolean>
  /** Brings dead letters back at once, under their own ids. Answers how many there were. */
  redrive(name: string, ids: readonly string[]): Promise<number>
  /** There may be something to do, for the worker of this process. */
  kick(name: string): void
  /** Stops every worker and lets go of what the queue holds. */
  close: Stop
}
