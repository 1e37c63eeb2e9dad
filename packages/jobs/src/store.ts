import type { Transaction } from '@concordat/work-queue'
import type { ScheduleStore } from './schedule-store.ts'
import type { JobState } from './states.ts'

/** Error of a failed job, as its owner sees it. */
export interface JobFailure {
  /** Error code in UPPER_SNAKE_CASE, for example `JOB_FAILED`. */
  readonly code: string
  readonly message: string
}

/** Job as it is stored. Times are in milliseconds since the Unix epoch. */
export interface StoredJob {
  /** Id of the job, a UUID. */
  readonly id: string
  /** Name of the job's type. */
  readonly type: string
  readonly owner: string
  readonly state: JobState
  readonly input: unknown
  /** Number of the latest attempt, as counted by the queue. It increases each time a worker begins the job; 0 before the first. */
  readonly attempt: number
  /** Number of attempts that count towards `maxAttempts`: those that threw an error or were lost, and the current attempt. */
  readonly tries: number
  /** Progress from 0 to 100. */
  readonly progress: number
  readonly result?: unknown
  readonly error?: JobFailure | undefined
  readonly createdAt: number
  /** Time until which the job can be read, set when it has ended. */
  readonly expiresAt?: number | undefined
}

/** Fields of a job that a change can set. */
export type JobChange = Partial<Pick<StoredJob, 'state' | 'attempt' | 'tries' | 'progress' | 'result' | 'error' | 'expiresAt'>>

/** A job in a list, with what its links depend on. */
export type ListedJob = Pick<StoredJob, 'id' | 'state' | 'result' | 'createdAt'>

/** Which jobs a list has: those of one type and owner that have not expired at a time, in the order of their creation and then their id. */
export interface JobListing {
  readonly type: string
  readonly owner: string
  readonly now: number
  readonly descending: boolean
  readonly offset: number
  readonly limit: number
}

/** Store of jobs. */
export interface JobStore {
  /**
   * Stores a new job, in the transaction if given. Returns the existing job with this id, or undefined. With `maxOpen`, returns `full` and stores nothing
   * when the owner has as many jobs of this type that have not ended; requests at the same time can exceed it a little.
   */
  add(job: StoredJob, transaction?: Transaction, maxOpen?: number): Promise<StoredJob | 'full' | undefined>
  read(id: string): Promise<StoredJob | undefined>
  /** Returns some jobs of a list, and the number of all. */
  list(listing: JobListing): Promise<{ readonly jobs: readonly ListedJob[]; readonly total: number }>
  /**
   * Changes a job if its state and, if given, its attempt are as expected; uses the transaction if given. Returns
   * whether the job was changed. A change to `queued` also removes the error and `expiresAt`. Of simultaneous changes, each sees the result of the previous.
   */
  change(
    id: string,
    expected: { readonly states: readonly JobState[]; readonly attempt?: number | undefined },
    change: JobChange,
    transaction?: Transaction
  ): Promise<boolean>
  /**
   * Stores a piece of the output of an attempt, from number 1, while the job is processing at this attempt, and returns whether it did. The output is
   * deleted with the job, and by each change to another state than `completed`.
   */
  append(id: string, attempt: number, number: number, piece: string): Promise<boolean>
  readPiece(id: string, number: number): Promise<string | undefined>
  /**
   * Deletes at most `maximum` jobs that expired before this time, and as many pieces of their output. Returns the larger number of those that it has found;
   * less than `maximum` when few are left.
   */
  sweep(expiredBefore: number, maximum: number): Promise<number>
  /** The schedules of the jobs. Without it, `app.jobs.schedule` throws an error. */
  readonly schedules?: ScheduleStore | undefined
}
