import type { RateLimitStore } from './store.ts'

interface Window {
  count: number
  readonly endsAt: number
}

/**
 * Creates a store that counts in the memory of this process. It holds at most `maximumKeys` keys, and at least half as many of the
 * most recent ones. `now` is a monotonic clock in milliseconds.
 */
export function memoryStore(maximumKeys = 50_000, now: () => number = () => performance.now()): RateLimitStore {
  // Two generations, because removing single old keys from a Map becomes slower with the number of keys.
  let recent = new Map<string, Window>()
  let former = new Map<string, Window>()

  return {
    add(key, cost, limit, windowMilliseconds) {
      // Whole numbers, because sums of fractions are not exact and a window could appear longer than it is.
      const time = Math.floor(now())
      const window = openWindow(key, time) ?? { count: 0, endsAt: time + windowMilliseconds }
      const count = window.count + cost
      if (count <= limit) window.count = count
      keep(key, window)
      return { count, resetMilliseconds: window.endsAt - time }
    }
  }

  function openWindow(key: string, time: number) {
    const window = recent.get(key) ?? former.get(key)
    return window !== undefined && window.endsAt > time ? window : undefined
  }

  function keep(key: string, window: Window) {
    if (recent.size >= maximumKeys / 2 && !recent.has(key)) {
      former = recent
      recent = new Map()
    }
    recent.set(key, window)
  }
}
