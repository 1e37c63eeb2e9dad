import type { Transaction } from '@concordat/work-queue'
import type { StoredJob } from './stored-job.ts'

/** A schedule that was seen this long after now was seen by a clock that was ahead. While processes declare it, they note it this often. */
export const seenMs = 60_000
/** A schedule that was not seen for this long is not declared by another release. */
export const staleMs = 300_000

/** What processes declare of a schedule. Times are in milliseconds since the Unix epoch. */
export interface DeclaredSchedule {
  readonly name: string
  /** The name of its type of job. */
  readonly job: string
  /** The cron expression with its zone, or the interval, as a text. */
  readonly timing: string
  /** The first occurrence from now on. */
  readonly nextAt: number
}

/** A schedule as it is stored. */
export interface StoredSchedule extends DeclaredSchedule {
  /** The next occurrence that no process has decided about. */
  readonly nextAt: number
  readonly isPaused: boolean
  /** When an operator requested a run that has not started. */
  readonly requestedAt?: number | undefined
  /** The planned time of the last run. */
  readonly lastAt?: number | undefined
  /** The job of the last run, while its record is stored. */
  readonly lastJob?: Pick<StoredJob, 'id' | 'state' | 'createdAt' | 'expiresAt'> | undefined
  /** When a process last declared it. */
  readonly seenAt: number
}

/** What a decision changes in a schedule. */
export interface ScheduleDecision {
  readonly nextAt: number
  readonly lastAt?: number | undefined
  readonly lastJobId?: string | undefined
  /** Whether the run is the one that an operator requested. */
  readonly endsRequest: boolean
}

/** Store of schedules, in the database of the jobs. */
export interface ScheduleStore {
  /** Returns the schedules with these names, or the first thousand by name. */
  list(names?: readonly string[]): Promise<readonly StoredSchedule[]>
  /**
   * Stores schedules that a process declares, with `now` as `seenAt`. One that is stored with the same timing and was not seen more than a minute after
   * `now`, by a clock that was ahead, keeps its `nextAt`. One with another timing is replaced if `isStart`, or if it was not seen within five minutes.
   */
  declare(schedules: readonly DeclaredSchedule[], now: number, isStart: boolean): Promise<void>
  /**
   * Locks a schedule and passes it to `decide`, with the transaction of the lock where the store has transactions, and stores what `decide` returns in
   * the same transaction. Does nothing while another process holds the lock.
   */
  decide(
    name: string,
    decide: (schedule: StoredSchedule, transaction?: Transaction) => Promise<ScheduleDecision | undefined>
  ): Promise<void>
  /** Pauses or resumes a schedule, or requests a run. Returns false for an unknown one. */
  change(name: string, change: { readonly isPaused: boolean } | { readonly requestedAt: number }): Promise<boolean>
  /** Deletes the schedules that were last seen before a time. */
  sweep(seenBefore: number): Promise<void>
}
