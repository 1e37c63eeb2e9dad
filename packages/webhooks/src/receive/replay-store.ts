import { requireKnownNames } from '@concordat/plugin-options'
/** Stores the ids of the webhooks that a receiver has processed. */
export interface ReplayStore {
  /** Claims an id. Returns `new` to one caller, then `working` until the id is finished or released, and `seen` once it is finished. */
  claim(id: string): Promise<'new' | 'working' | 'seen'>
  /** Marks an id as processed. */
  finish(id: string): Promise<void>
  /** Releases an id whose processing failed, so that it can be claimed again. */
  release(id: string): Promise<void>
}

/** Options of {@link memoryReplayStore}. */
export interface MemoryReplayStoreOptions {
  /** How long an id counts as processed, in seconds. @default 345600, four days: longer than the schedule of Standard Webhooks */
  readonly rememberSeconds?: number | undefined
  /** The maximum number of stored ids. Beyond it, the oldest ids are removed. @default 100000 */
  readonly maxIds?: number | undefined
  /** Returns the current time, in milliseconds since the Unix epoch. @default Date.now */
  readonly now?: (() => number) | undefined
}

/** Creates a replay store in the memory of one process. */
export function memoryReplayStore(options: MemoryReplayStoreOptions = {}): ReplayStore {
  requireKnownNames('webhooks', options, { rememberSeconds: true, maxIds: true, now: true })
  const { rememberSeconds = 345_600, maxIds = 100_000, now = () => Date.now() } = options
  const seen = new Map<string, { readonly isDone: boolean; readonly at: number }>()

  function remember(id: string, isDone: boolean) {
    seen.delete(id)
    seen.set(id, { isDone, at: now() })
    for (const [oldest, { at }] of seen) {
      if (seen.size <= maxIds && now() - at <= rememberSeconds * 1000) break
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
