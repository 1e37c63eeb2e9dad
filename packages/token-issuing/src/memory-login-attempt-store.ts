import { optionChecks, requireKnownNames } from '@concordat/plugin-options'
import type { LoginAttemptStore } from './login-attempt-store.ts'

const check = optionChecks('token-issuing')

/** Options of {@link memoryLoginAttemptStore}. */
export interface MemoryLoginAttemptStoreOptions {
  /** How many keys are counted. Beyond that, the least recently used key is removed. @default 100000 */
  readonly maxKeys?: number | undefined
}

/**
 * Creates a store that counts sign-in attempts in the memory of one process. Each process counts alone: with n processes, an account has n times
 * the limit.
 */
export function memoryLoginAttemptStore(options: MemoryLoginAttemptStoreOptions = {}): LoginAttemptStore {
  requireKnownNames('token-issuing', options, { maxKeys: true })
  const { maxKeys = 100_000 } = options
  check.integer('options.maxKeys', maxKeys, 1, 10_000_000)
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
