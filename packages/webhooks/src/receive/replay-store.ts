/** Stores the ids of the webhooks that a receiver has processed. */
export interface ReplayStore {
  /** Claims an id. Returns `new` to one caller, then `working` until the id is finished or released, and `seen` once it is finished. */
  claim(id: string): Promise<'new' | 'working' | 'seen'>
  /** Marks an id as processed. */
  finish(id: string): Promise<void>
  /** Releases an id whose processing failed, so that it can be claimed again. */
  release(id: string): Promise<void>
}

// Longer than the schedule of Standard Webhooks.
const rememberMs = 4 * 86_400_000
const maxIds = 100_000

/** Creates a replay store in the memory of one process, for the last 100,000 ids of four days. */
export function memoryReplayStore(): ReplayStore {
  const seen = new Map<string, { readonly isDone: boolean; readonly at: number }>()

  function remember(id: string, isDone: boolean) {
    seen.delete(id)
    seen.set(id, { isDone, at: Date.now() })
    for (const [oldest, { at }] of seen) {
      if (seen.size <= maxIds && Date.now() - at <= rememberMs) break
      seen.delete(oldest)
    }
  }

  return {
    async claim(id) {
      const before = seen.get(id)
      if (before !== undefined && Date.now() - before.at <= rememberMs) return before.isDone ? 'seen' : 'working'
      remember(id, false)
      return 'new'
    },
    finish: async (id) => remember(id, true),
    release: async (id) => void seen.delete(id)
  }
}
