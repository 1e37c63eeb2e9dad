const maxKeys = 100_000

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

/**
 * Creates a store that counts sign-in attempts in the memory of one process. Each process counts alone: with n processes, an account has n times
 * the limit. Beyond 100,000 keys, the least recently used is removed.
 */
export function memoryLoginAttemptStore(): LoginAttemptStore {
  // When all attempts of a key will be forgiven (GCRA, ITU-T I.371, needs only this number); in order of use.
  const forgivenAt = new Map<string, number>()

  return {
    async take(key, { limit, windowMs }, now) {
      const share = windowMs / limit
      const next = Math.max(forgivenAt.get(key) ?? 0, now) + share
      const wait = next - now - windowMs
      // Shares are not whole milliseconds, so their sums are not exact.
      if (wait >= 1) return wait
      forgivenAt.delete(key)
      for (const [oldest, time] of forgivenAt) {
        if (forgivenAt.size < maxKeys && time > now) break
        forgivenAt.delete(oldest)
      }
      forgivenAt.set(key, next)
      return 0
    },
    async giveBack(key, { limit, windowMs }) {
      const time = forgivenAt.get(key)
      if (time !== undefined) forgivenAt.set(key, time - windowMs / limit)
    }
  }
}
