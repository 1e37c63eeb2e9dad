import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { type RevocableClaims, RevocationSet } from './revocation-set.ts'
import type { Revocation, RevocationStore } from './revocation-store.ts'

/** The revocations that every request is checked against, in memory. */
export interface Revocations {
  /** Returns whether the token with these claims was revoked, as far as this process knows. */
  isRevoked(claims: RevocableClaims): boolean
  /** How long ago this process last had all revocations, in milliseconds; `Infinity` before it first had them. */
  readonly staleMilliseconds: number
  /** Called by the plugin when the service is ready. */
  start?(): Promise<void>
  /** Called by the plugin when the service closes. */
  close?(): Promise<void>
}

/** The revocations of all processes, kept up to date in the memory of this one. */
export interface RevocationFeed extends Revocations {
  /**
   * Reads all revocations and listens for new ones. Further calls change nothing. Never rejects: a failure is passed to
   * `onError` and retried.
   */
  start(): Promise<void>
  /**
   * Revokes in this process immediately, and in others when they are notified. Rejects when the store fails; the revocation then
   * applies only in this process.
   */
  revoke(revocation: Revocation): Promise<void>
  /** Stops listening. */
  close(): Promise<void>
}

/** Options of {@link revocationFeed}. */
export interface RevocationFeedOptions {
  readonly store: RevocationStore
  /**
   * How often the store is read, even without a notification: the maximum time, while the store is available, until a
   * revocation by another process takes effect in this one.
   * @default 2
   */
  readonly pollSeconds?: number | undefined
  /** How long an operation of the store may take before it times out and is retried. @default 2 */
  readonly timeoutSeconds?: number | undefined
  /** Called with each error of the store, for the log. @default errors are ignored */
  readonly onError?: ((error: unknown) => void) | undefined
}

/**
 * Creates the feed that gives this process the revocations of all processes (rule U4). The subscription of the store notifies it;
 * a poll at a fixed interval finds what a lost subscription missed, and restores the subscription. Throws a `TypeError` of one line
 * for invalid options.
 */
export function revocationFeed({ store, pollSeconds = 2, timeoutSeconds = 2, onError = () => {} }: RevocationFeedOptions): RevocationFeed {
  for (const [name, seconds] of Object.entries({ pollSeconds, timeoutSeconds })) {
    if (typeof seconds !== 'number' || !(seconds >= 0.01 && seconds <= 60)) {
      throw new TypeError(`authentication: options.${name} must be a number of seconds from 0.01 to 60. Received ${String(seconds)}.`)
    }
  }
  const known = new RevocationSet()
  let cursor: string | undefined
  let completeAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined
  let readAgain = false
  let subscription: (() => Promise<void>) | 'beginning' | undefined
  let timer: NodeJS.Timeout | undefined
  let firstLook: Promise<void> | undefined
  let closed = false

  async function read() {
    const startedAt = performance.now()
    const page = await inTime(store.read(cursor))
    for (const revocation of page.revocations) known.add(revocation)
    cursor = page.cursor
    // The page may lack revocations that were added while the store was reading.
    completeAt = startedAt
  }

  /** Runs one read at a time; a notification during a read causes another read. */
  function catchUp(): Promise<void> {
    if (reading) readAgain = true
    reading ??= (async () => {
      do {
        readAgain = false
        await read().catch(onError)
      } while (readAgain)
      reading = undefined
    })()
    return reading
  }

  async function listen() {
    if (subscription !== undefined) return
    subscription = 'beginning'
    let isLost = false
    let end: (() => Promise<void>) | undefined
    const lost = () => {
      isLost = true
      if (end !== undefined && subscription === end) subscription = undefined
    }
    const beginning = store.subscribe(() => void (closed || catchUp()), lost)
    try {
      end = await inTime(beginning)
      subscription = isLost ? undefined : end
      if (closed) await end()
    } catch (error) {
      subscription = undefined
      onError(error)
      // A subscription that begins after the timeout is ended.
      beginning.then((late) => late(), onError)
    }
  }

  async function look(): Promise<void> {
    // Subscribes first, so that no revocation is missed between the read and the notifications.
    await listen()
    await catchUp()
    known.forgetOver(Date.now())
    if (closed) return
    timer = setTimeout(() => void look(), pollSeconds * 1000)
    timer.unref()
  }

  async function inTime<Result>(answer: Promise<Result>): Promise<Result> {
    const done = new AbortController()
    const late = delay(timeoutSeconds * 1000, undefined, { signal: done.signal }).then(() => {
      throw new Error(`The revocation store timed out after ${timeoutSeconds} s.`)
    })
    // When the operation finishes first, this timer is aborted and its rejection is not handled elsewhere.
    late.catch(() => {})
    try {
      return await Promise.race([answer, late])
    } finally {
      done.abort()
    }
  }

  return {
    isRevoked: (claims) => known.has(claims),
    get staleMilliseconds() {
      return performance.now() - completeAt
    },
    start: () => (firstLook ??= look()),
    async revoke(revocation) {
      known.add(revocation)
      await store.revoke(revocation)
    },
    async close() {
      closed = true
      clearTimeout(timer)
      const end = subscription
      await reading
      if (typeof end === 'function') await end()
    }
  }
}
