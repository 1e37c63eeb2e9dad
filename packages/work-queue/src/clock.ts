/** Clock of a queue, in milliseconds since the Unix epoch. */
export interface Clock {
  now(): number
  /** Calls `run` once after the given number of milliseconds. Returns a function that cancels the call. */
  after(milliseconds: number, run: () => void): () => void
  /** On a test clock, registers a follower that moves its own time by the same amount and reports whether it is busy. */
  readonly follow?: ((follower: { moveBy(milliseconds: number): Promise<void>; isBusy(): boolean }) => () => void) | undefined
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(milliseconds, run) {
    // A longer timeout would expire immediately.
    const timer = setTimeout(run, Math.min(milliseconds, 2 ** 31 - 1))
    return () => clearTimeout(timer)
  }
}
