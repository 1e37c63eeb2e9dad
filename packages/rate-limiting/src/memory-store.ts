import { requireKnownNames } from '@concordat/plugin-options'
import type { RateLimitStore } from './store.ts'

interface Window {
  count: number
  readonly endsAt: number
}

/** Options of {@link memoryRateLimitStore}. */
export interface MemoryRateLimitStoreOptions {
  /** The maximum number of stored keys. At least half as many of the most recent ones are stored. @default 50000 */
  readonly maxKeys?: number | undefined
  /** Returns the current time, in milliseconds. It must be monotonic. @default performance.now */
  readonly now?: (() => number) | undefined
}

/** Creates a store that counts in the memory of this process. */
export function memoryRateLimitStore(options: MemoryRateLimitStoreOptions = {}): RateLimitStore {
  requireKnownNames('rate-limiting', options, { maxKeys: true, now: true })
  const { maxKeys = 50_000, now = () => performance.now() } = options
  // Two generations, because removing single old keys from a Map becomes slower with the number of keys.
  let recent = new Map<string, Window>()
  let former = new Map<string, Window>()

  return {
    add(key, cost, limit, windowMs) {
      // Whole numbers, because sums of fractions are not exact and a window could appear longer than it is.
      const time = Math.floor(now())
      const window = openWindow(key, time) ?? { count: 0, endsAt: time + windowMs }
      const count = window.count + cost
      if (count <= limit) window.count = count
      keep(key, window)
      return { count, resetMs: window.endsAt - time }
    }
  }

  function openWindow(key: string, time: number) {
    const window = recent.get(key) ?? former.get(key)
    return window !== undefined && window.endsAt > time ? window : undefined
  }

  function keep(key: string, window: Window) {
    if (recent.size >= maxKeys / 2 && !recent.has(key)) {
      former = recent
      recent = new Map()
    }
    recent.set(key, window)
  }
}
