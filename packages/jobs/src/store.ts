import type { Transaction } from '@concordat/work-queue'
import type { JobState } from './states.ts'

/** What went wrong, as the owner of the job may read it. */
export interface JobFailure {
  /** In UPPER_SNAKE_CASE, as `JOB_FAILED`. */
  readonly code: string
  readonly message: string
}

/** One job, as a store keeps it. Times are milliseconds since 1970. */
export interface StoredJob {
  /** A UUID. */
  readonly id: string
  /** The name of its type. */
  readonly type: string
  readonly owner: string
  readonly state: JobState
  readonly input: unknown
  /** Which attempt of the queue has it, counted up by each beginning; 0 before the first. */
  readonly attempt: number
  /** How many attempts count: those that threw or were lost, and the one that goes on. */
  readonly tries: number
  /** 0 to 100. */
  readonly progress: number
  readonly result?: unknown
  readonly error?: JobFailure | undefined
  readonly createdAt: number
  /** Until when it can be read, once it is over. */
  readonly expiresAt?: number | undefined
}

/** What a change of a job sets. */
export type JobChange = Partial<Pick<StoredJob, 'state' | 'attempt' | 'tries' | 'progress' | 'result' | 'error' | 'expiresAt'>>

/** Keeps jobs. */
export interface JobStore {
  /**
   * Keeps a new job, in the transaction if there is one, and forgets some that expired before a time. Answers the job that has this id
   * already, or undefined.
   */
  add(job: StoredJob, expiredBefore: number, transaction?: Transaction): Promise<StoredJob | undefined>
  read(id: string): Promise<StoredJob | undefined>
  /**
   * Changes a job, in the transaction if there is one, if it is in one of the states and, where one is given, at that attempt. Answers
   * whether it was. Of changes at once, each sees what the one before it has left.
   */
  change(
    id: string,
    expected: { readonly states: readonly JobState[]; readonly attempt?: number | undefined },
    change: JobChange,
    transaction?: Transaction
  ): Promise<boolean>
}
