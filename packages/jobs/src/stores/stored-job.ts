import type { JobState } from '../states.ts'

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
  /** The client that can read the job, and its tenant, as one text. */
  readonly owner: string
  /** The tenant of the request that started the job. Absent without tenants, and for a job of none. */
  readonly tenant?: string | undefined
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
