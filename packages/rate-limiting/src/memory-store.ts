import type { RateLimitStore } from './store.ts'

interface Window {
  count: number
  readonly endsAt: number
}

/**
 * Counts in the memory of this process. It remembers at most `maximumKeys` keys, and at least the last half as many.
 * `now` is a clock in milliseconds that never goes back.
 */
export function memoryStore(maximumKeys = 50_000, now: () => number = () => performance.now()): RateLimitStore {
  // Two generations, since taking single old keys out of a Map gets slower the more of them there are.
  let recent = new Map<string, Window>()
  let former = new Map<string, Window>()

  return {
    add(key, cost, limit, windowMilliseconds) {
      // Whole numbers, since sums of others are not exact and a window would seem longer than it is.
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
