/** The count of a key in its window. */
export interface Count {
  /** The previous count plus the cost of this call. Above the limit: the call was rejected and not counted. */
  readonly count: number
  /** The time until the window ends. */
  readonly resetMs: number
}

/** A store that counts requests by key in windows of fixed length. */
export interface RateLimitStore {
  /**
   * Adds `cost` to the count of the key atomically, and returns the sum; counts nothing when the sum exceeds `limit`.
   * The first call for a key opens a window of `windowMs`; when it ends, the count is 0 again.
   */
  add(key: string, cost: number, limit: number, windowMs: number): Count | Promise<Count>
}
