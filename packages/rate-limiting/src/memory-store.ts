import type { RateLimitStore } from './store.ts'

interface Window {
  count: number
  readonly endsAt: number
}

const maxKeys = 50_000

/** Creates a store that counts in the memory of this process. Beyond 50,000 keys, those that were idle longest are removed. */
export function memoryRateLimitStore(): RateLimitStore {
  // Two generations, because removing single old keys from a Map becomes slower with the number of keys.
  let recent = new Map<string, Window>()
  let former = new Map<string, Window>()

  return {
    add(key, cost, limit, windowMs) {
      // Whole numbers, because sums of fractions are not exact and a window could appear longer than it is.
      const time = Math.floor(performance.now())
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
