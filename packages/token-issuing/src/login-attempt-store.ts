/** The maximum number of attempts in a time window. Each is forgiven after its share of the window. */
export interface AttemptLimit {
  readonly limit: number
  readonly windowMs: number
}

/** Counts sign-in attempts. Each method is atomic across all processes. */
export interface LoginAttemptStore {
  /**
   * Counts one attempt and returns 0; when `limit` attempts are already counted, counts nothing and returns the milliseconds
   * until the first of them is forgiven. `now` is in milliseconds since the Unix epoch.
   */
  take(key: string, limit: AttemptLimit, now: number): Promise<number>
  /** Removes one counted attempt. */
  giveBack(key: string, limit: AttemptLimit): Promise<void>
}
