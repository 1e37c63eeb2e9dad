/** What a key has spent in its window. */
export interface Count {
  /** With the request just asked about, whether or not it was counted. Over the limit: it was refused. */
  readonly count: number
  /** Until the window ends. */
  readonly resetMilliseconds: number
}

/** Where requests are counted. */
export interface RateLimitStore {
  /**
   * Counts `cost` for the key in one step that no other comes between, and answers the sum; counts nothing when the sum is over `limit`.
   * The first cost of a key opens a window of `windowMilliseconds`; when it ends, nothing is counted.
   */
  add(key: string, cost: number, limit: number, windowMilliseconds: number): Count | Promise<Count>
}
