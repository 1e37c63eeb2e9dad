import type { LoginAttemptStore } from './login-attempt-store.ts'
import { wholeNumber } from './whole-number.ts'

/** How much a {@link memoryLoginAttemptStore} keeps. */
export interface MemoryLoginAttemptStoreOptions {
  /** When more are counted, the one that was asked for longest ago is forgotten. @default 100000 */
  readonly maxKeys?: number | undefined
}

/** Attempts in the memory of one process. Each process counts its own: of several, an account has so many times the limit. */
export function memoryLoginAttemptStore({ maxKeys = 100_000 }: MemoryLoginAttemptStoreOptions = {}): LoginAttemptStore {
  wholeNumber('maxKeys', maxKeys, 1, 10_000_000)
  // When all that is counted under a key will be forgiven (GCRA, ITU-T I.371: one number says it); in the order of use.
  const forgivenAt = new Map<string, number>()

  return {
    async take(key, { limit, windowMilliseconds }, now) {
      const share = windowMilliseconds / limit
      const next = Math.max(forgivenAt.get(key) ?? 0, now) + share
      const wait = next - now - windowMilliseconds
      // Shares are no whole milliseconds, and their sums not exact.
      if (wait >= 1) return wait
      forgivenAt.delete(key)
      for (const [oldest, time] of forgivenAt) {
        if (forgivenAt.size < maxKeys && time > now) break
        forgivenAt.delete(oldest)
      }
      forgivenAt.set(key, next)
      return 0
    },
    async giveBack(key, { limit, windowMilliseconds }) {
      const time = forgivenAt.get(key)
      if (time !== undefined) forgivenAt.set(key, time - windowMilliseconds / limit)
    }
  }
}
