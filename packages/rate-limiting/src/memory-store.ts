import { callback, describeOptions, integer, type OptionsOf } from '@concordat/plugin-kit/options'
import type { RateLimitStore } from './store.ts'

interface Window {
  count: number
  readonly endsAt: number
}

/** The description of {@link MemoryRateLimitStoreOptions}. @readme */
export const memoryRateLimitStoreOptions = describeOptions('rate-limiting', {
  /** The maximum number of keys. Beyond that, those that were idle longest are removed. */
  maxKeys: integer({ default: 50_000, min: 100, max: 10_000_000 }),
  /** Returns the time of a monotonic clock in milliseconds. By default `performance.now`. */
  now: callback<() => number>('returns milliseconds', { default: () => performance.now() })
})

/** Options of {@link memoryRateLimitStore}. */
export interface MemoryRateLimitStoreOptions extends OptionsOf<typeof memoryRateLimitStoreOptions> {}

/** Creates a store that counts in the memory of this process. */
export function memoryRateLimitStore(options: MemoryRateLimitStoreOptions = {}): RateLimitStore {
  const { maxKeys, now } = memoryRateLimitStoreOptions.read(options)
  // Two generations, because removing single old keys from a Map becomes slower with the number of keys.
  let recent = new Map<string, Window>()
  let former = new Map<string, Window>()

  return {
    add(key, cost, limit, windowMs) {
      // Whole numbers, because sums of fractions are not exact and a window could appear longer than it is.
      const time = Math.floor(now())
      const ofRecent = recent.get(key)
      const known = ofRecent ?? former.get(key)
      const window = known !== undefined && known.endsAt > time ? known : { count: 0, endsAt: time + windowMs }
      const count = window.count + cost
      if (count <= limit) window.count = count
      if (ofRecent === undefined && recent.size >= maxKeys / 2) {
        former = recent
        recent = new Map()
      }
      if (window !== ofRecent) recent.set(key, window)
      return { count, resetMs: window.endsAt - time }
    }
  }
}
