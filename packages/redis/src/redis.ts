import type { Script } from './script.ts'

/** Who hears a channel. */
export interface Listener {
  /** There is news: what was published. */
  readonly heard: (message: string) => void
  /** The connection is gone: nothing will be heard any more. Called at most once. */
  readonly lost: () => void
}

/** A Redis, by whatever client: made by `fromIoredis` or `fromNodeRedis`. */
export interface Redis {
  /** Runs a script with these `ARGV`. All keys that it uses are `ARGV[1]` or begin with it, which puts them into one slot of a cluster. */
  run(script: Script, args: readonly string[]): Promise<unknown>
  /** Hears a channel, on a connection of its own, from when it has resolved. The answer ends that, and never rejects. */
  listen(channel: string, listener: Listener): Promise<() => Promise<void>>
}

/** Where the keys of a store are. */
export interface StoreOptions {
  /** What every key begins with. Several services on one Redis need one each. @default 'concordat' */
  readonly prefix?: string | undefined
}

/** What every key of one store begins with: the braces keep them in one slot of a cluster. Refuses what would break that. */
export function keysOf(prefix: string, store: string): string {
  return `{${requirePrefix(prefix)}:${store}}:`
}

/** What names the keys of a store whose scripts each use one key only: each is in a slot of its own, all over a cluster. */
export function spreadKeysOf(prefix: string, store: string): (name: string) => string {
  const start = `{${requirePrefix(prefix)}:${store}:`
  return (name) => `${start}${name}}`
}

// One that could part the keys of a store in a cluster is refused.
function requirePrefix(prefix: string): string {
  if (/^[\w.:-]{1,64}$/.test(prefix)) return prefix
  throw new TypeError(`redis: the prefix "${prefix}" is no plain name. Give one of letters, digits and _ . : -, as "orders".`)
}

/** Calls `lost` once, for the first of the signs that a connection is gone; `end` keeps it from being called for those that follow. */
export function lossOf(lost: () => void): { readonly tell: () => void; readonly end: () => boolean } {
  let over = false
  const end = () => {
    if (over) return false
    over = true
    return true
  }
  return { tell: () => void (end() && lost()), end }
}
