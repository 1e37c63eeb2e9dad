import { requireKnownNames } from '@concordat/plugin-options'
import type { Script } from './script.ts'

/** Callbacks for a channel. */
export interface Listener {
  /** Called for each published message. */
  readonly onMessage: (message: string) => void
  /** Called when the connection is lost, at most once. No message follows. */
  readonly onLost: () => void
}

/** The Redis operations that the stores need, independent of the client library. Created by `fromIoredis` or `fromNodeRedis`. */
export interface Redis {
  /** Runs a script with these `ARGV`. All keys that it uses are `ARGV[1]` or begin with it, so that they share one slot of a cluster. */
  run(script: Script, args: readonly string[]): Promise<unknown>
  /**
   * Subscribes to a channel on a separate connection; the subscription is active once the promise resolves. The returned function stops listening,
   * and never rejects.
   */
  listen(channel: string, listener: Listener): Promise<() => Promise<void>>
}

/** Options that all Redis stores share. */
export interface StoreOptions {
  /** The prefix of every key. Each service on a shared Redis needs its own. @default 'concordat' */
  readonly prefix?: string | undefined
}

/** Returns the prefix of all keys of a store. The braces put them in one slot of a cluster. Throws for a prefix that would break that. */
export function keysOf(options: StoreOptions, store: string): string {
  return `{${prefixOf(options)}:${store}}:`
}

/**
 * Returns the function that names the keys of a store whose scripts use only one key each, so that the keys are spread over the slots of a
 * cluster.
 */
export function spreadKeysOf(options: StoreOptions, store: string): (name: string) => string {
  const start = `{${prefixOf(options)}:${store}:`
  return (name) => `${start}${name}}`
}

// Throws for a prefix that could put the keys of a store into several slots of a cluster.
function prefixOf(options: StoreOptions): string {
  requireKnownNames('redis', options, { prefix: true })
  const { prefix = 'concordat' } = options
  if (/^[\w.:-]{1,64}$/.test(prefix)) return prefix
  throw new TypeError(`redis: options.prefix "${prefix}" must consist of letters, digits and _ . : -, for example "orders".`)
}

/** Creates `notify`, which calls `lost` at the first sign that a connection is lost, and `end`, which prevents all later calls. */
export function lossOf(lost: () => void): { readonly notify: () => void; readonly end: () => boolean } {
  let over = false
  const end = () => {
    if (over) return false
    over = true
    return true
  }
  return { notify: () => void (end() && lost()), end }
}
