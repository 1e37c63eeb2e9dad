/** Which webhooks a receiver has seen. */
export interface ReplayStore {
  /** Takes an id: `new` for one caller, then `working` until it is finished or released, and `seen` once it is finished. */
  claim(id: string): Promise<'new' | 'working' | 'seen'>
  /** The work is done: the id counts as seen. */
  finish(id: string): Promise<void>
  /** The work failed: the id may come again. */
  release(id: string): Promise<void>
}

/** How much a {@link memoryReplayStore} remembers. */
export interface MemoryReplayStoreOptions {
  /** How long an id counts as seen. @default 345600, four days: longer than the schedule of Standard Webhooks */
  readonly rememberSeconds?: number | undefined
  /** How many ids are remembered; beyond, the oldest are forgotten. @default 100000 */
  readonly maximumIds?: number | undefined
  /** The clock, in milliseconds. @default Date.now */
  readonly now?: (() => number) | undefined
}

/** Remembers in the memory of one process, for one process. */
export function memoryReplayStore({
  rememberSeconds = 345_600,
  maximumIds = 100_000,
  now = Date.now
}: MemoryReplayStoreOptions = {}): ReplayStore {
  const seen = new Map<string, { readonly isDone: boolean; readonly at: number }>()

  function remember(id: string, isDone: boolean) {
    seen.delete(id)
    seen.set(id, { isDone, at: now() })
    for (const [oldest, { at }] of seen) {
      if (seen.size <= maximumIds && now() - at <= rememberSeconds * 1000) break
      seen.delete(oldest)
    }
  }

  return {
    async claim(id) {
      const before = seen.get(id)
      if (before !== undefined && now() - before.at <= rememberSeconds * 1000) return before.isDone ? 'seen' : 'working'
      remember(id, false)
      return 'new'
    },
    async finish(id) {
      remember(id, true)
    },
    async release(id) {
      seen.delete(id)
    }
  }
}
