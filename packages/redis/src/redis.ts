import { hash } from 'node:crypto'
import { describeOptions, type OptionsOf, value } from '@concordat/plugin-kit/options'

/** A Lua script, and the hash by which Redis caches it. */
export interface Script {
  readonly source: string
  readonly sha: string
}

interface Listener {
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

/** The description of {@link StoreOptions}. */
export const storeOptions = describeOptions('redis', {
  /** The start of every key. Each service on a shared Redis needs its own. */
  prefix: value<string>({ default: 'concordat' })
})

/** Options that all Redis stores share. */
export interface StoreOptions extends OptionsOf<typeof storeOptions> {}

const write = script(`redis.call('SET', ARGV[1], '', 'PX', 1000)`)

/**
 * Rejects when Redis cannot be reached or refuses writes, for example because its memory is full or it is a replica. For readiness checks: it writes
 * one key under the prefix, which expires after a second.
 */
export async function checkRedis(redis: Redis, options: StoreOptions = {}): Promise<void> {
  const key = keysOf(options, 'check')
  await redis.run(write, [key])
}

/** Returns the prefix of all keys of a store. The braces put them in one slot of a cluster. Throws for a prefix that would break that. */
export function keysOf(options: StoreOptions, store: string): string {
  return `{${prefixOf(options)}:${store}}:`
}

/** Returns the function that names the keys of a store whose scripts use one key each, so that they are spread over the slots of a cluster. */
export function spreadKeysOf(options: StoreOptions, store: string): (name: string) => string {
  const start = `{${prefixOf(options)}:${store}:`
  return (name) => `${start}${name}}`
}

function prefixOf(options: StoreOptions): string {
  const { prefix } = storeOptions.read(options)
  if (/^[\w.:-]{1,64}$/.test(prefix)) return prefix
  throw new TypeError(`redis: options.prefix "${prefix}" must consist of letters, digits and _ . : -, for example "orders".`)
}

export function script(source: string): Script {
  return { source, sha: hash('sha1', source) }
}

/** Runs a script by its hash, or sends its source if Redis has not cached the script, for example after a restart. */
export async function runScript(byName: () => Promise<unknown>, whole: () => Promise<unknown>): Promise<unknown> {
  try {
    return await byName()
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('NOSCRIPT')) return whole()
    throw error
  }
}
