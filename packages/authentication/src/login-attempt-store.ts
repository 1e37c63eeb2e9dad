/** So many attempts are let through at once, and each is forgiven after its share of the window. */
export interface AttemptLimit {
  readonly limit: number
  readonly windowMilliseconds: number
}

/** Where attempts are counted. Each method takes effect at one moment, against all other processes. */
export interface LoginAttemptStore {
  /**
   * Counts one attempt and answers 0; when `limit` are counted already, counts nothing and answers the milliseconds until
   * the first of them is forgiven. `now` is in milliseconds since 1970.
   */
  take(key: string, limit: AttemptLimit, now: number): Promise<number>
  /** Takes one counted attempt back. */
  giveBack(key: string, limit: AttemptLimit): Promise<void>
}
