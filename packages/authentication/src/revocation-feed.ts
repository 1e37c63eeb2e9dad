import { performance } from 'node:perf_hooks'
import { withDeadline } from '@concordat/plugin-kit/deadline'
import { callback, describeOptions, duration, instance, type OptionsOf, required } from '@concordat/plugin-kit/options'
import { type RevocableClaims, RevocationSet } from './revocation-set.ts'
import type { Revocation, RevocationStore } from './revocation-store.ts'

// After a failure, the store is read again after this time and not after the next poll: tokens are refused until then.
const retryMs = 100

/** The revocations that every request is checked against, in memory. */
export interface Revocations {
  /** Returns whether the token with these claims was revoked, as far as this process knows. */
  isRevoked(claims: RevocableClaims): boolean
  /** How long ago this process last read all revocations, in milliseconds; `Infinity` before the first time. */
  readonly staleMs: number
  /**
   * Reads all revocations again, for a process that was not running, for example because its event loop was blocked. Resolves also if that fails, and
   * immediately while the store fails. Never rejects.
   */
  readonly refresh?: (() => Promise<void>) | undefined
  /** Registers a function that gets the `sub` when this process revokes all tokens of a user. Plugins whose state belongs to users, such as webhooks, do. */
  readonly onSubjectRevoked?: ((listener: (subject: string) => Promise<void>) => void) | undefined
  /** Called when the service is ready, and `close` when it closes. */
  readonly start?: (() => Promise<void>) | undefined
  readonly close?: (() => Promise<void>) | undefined
}

/** The revocations of all processes, kept up to date in the memory of this process. */
export interface RevocationFeed extends Revocations {
  /** Reads all revocations and listens for new ones. Never rejects: a failure is passed to `onError` and retried. */
  start(): Promise<void>
  /**
   * Applies a revocation here immediately, and in other processes when they are notified. Rejects when the store fails: it then applies only here.
   * That of a subject also disables the user's webhook subscriptions, and rejects if that fails. Repeat it then.
   */
  revoke(revocation: Revocation): Promise<void>
  refresh(): Promise<void>
  onSubjectRevoked(listener: (subject: string) => Promise<void>): void
  close(): Promise<void>
}

const revocationFeedOptions = describeOptions('authentication', {
  /** The store of the revocations. */
  store: required(instance<RevocationStore>(['revoke', 'read', 'subscribe'], 'RevocationStore, for example memoryRevocationStore()')),
  /** How often the store is read, even without a notification. While it is available, a revocation by another process takes effect within this time. Operators raise it while the store is overloaded. */
  pollSeconds: duration({ default: 2, min: 0.01, max: 60 }),
  /** How long an operation of the store may take before it times out and is retried. Operators raise it while the store is slow. */
  timeoutSeconds: duration({ default: 2, min: 0.01, max: 60 }),
  /** Called with errors of the store, for the log: at most one of reads and one of subscriptions per `pollSeconds`. */
  onError: callback<(error: unknown) => void>('gets the error', { default: () => {} })
})

/** Options of {@link revocationFeed}. */
export interface RevocationFeedOptions extends OptionsOf<typeof revocationFeedOptions> {}

/**
 * Creates the feed that gives this process the revocations of all processes (rule U4). The store notifies it; a poll finds what a lost subscription
 * missed, and restores it. Failed reads and lost subscriptions are repeated soon. Throws a `TypeError` of one line for invalid options.
 */
export function revocationFeed(options: RevocationFeedOptions): RevocationFeed {
  const { store, pollMs, timeoutMs, onError } = revocationFeedOptions.read(options)
  const soonMs = Math.min(retryMs, pollMs)
  const known = new RevocationSet()
  const listeners: ((subject: string) => Promise<void>)[] = []
  let cursor: string | undefined
  let completeAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined
  let readAgain = false
  let subscription: (() => Promise<void>) | 'beginning' | undefined
  let timer: NodeJS.Timeout | undefined
  let firstPoll: Promise<void> | undefined
  let closed = false
  let isPolling = false
  // A read that timed out. Before it settles, further reads would only keep the client from noticing that its connection is idle.
  let pending: Promise<unknown> | undefined
  let isFailing = false
  let reportedAt = Number.NEGATIVE_INFINITY

  async function read() {
    const startedAt = performance.now()
    const work = store.read(cursor)
    const page = await inTime(work).catch((error: unknown) => {
      pending = work
      const settled = () => {
        if (pending !== work) return
        pending = undefined
        if (isFailing) pollIn(soonMs)
      }
      // A read that rejected has settled already.
      work.then(settled, settled)
      throw error
    })
    for (const revocation of page.revocations) known.add(revocation)
    cursor = page.cursor
    // The page may lack revocations that were added while the store was reading.
    completeAt = startedAt
    isFailing = false
    pending = undefined
  }

  function readFailed(error: unknown) {
    isFailing = true
    const now = performance.now()
    if (now - reportedAt < pollMs) return
    reportedAt = now
    onError(error)
  }

  // One read at a time; a notification during a read causes another read.
  function catchUp(): Promise<void> {
    if (reading) readAgain = true
    reading ??= (async () => {
      do {
        readAgain = false
        await read().catch(readFailed)
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
      if (end === undefined || subscription !== end) return
      subscription = undefined
      pollIn(soonMs)
    }
    try {
      // A subscription that begins after the timeout is ended.
      end = await inTime(
        store.subscribe(() => void (closed || catchUp()), lost),
        (late) => void late()
      )
      subscription = isLost ? undefined : end
      if (closed) await end()
    } catch (error) {
      subscription = undefined
      onError(error)
    }
  }

  async function poll(): Promise<void> {
    isPolling = true
    // A store that refuses is read before anything else: tokens wait for that.
    const hasFailed = isFailing && pending === undefined
    // Otherwise subscribes first, so that no revocation is missed between the read and the notifications.
    if (!hasFailed) await listen()
    await catchUp()
    known.forgetOver(Date.now())
    isPolling = false
    pollIn(hasFailed || (isFailing && pending === undefined) ? soonMs : pollMs)
  }

  // A poll that runs determines when the next one is.
  function pollIn(milliseconds: number) {
    if (closed || isPolling) return
    clearTimeout(timer)
    timer = setTimeout(() => void poll(), milliseconds).unref()
  }

  function inTime<Result>(work: Promise<Result>, onLateResult?: (result: Result) => void) {
    const onTimeout = () => new Error(`The revocation store timed out after ${timeoutMs / 1000} s.`)
    return withDeadline(work, { ms: timeoutMs, onTimeout, onLateResult })
  }

  return {
    isRevoked: (claims) => known.has(claims),
    get staleMs() {
      return performance.now() - completeAt
    },
    start: () => (firstPoll ??= poll()),
    async refresh() {
      if (!isFailing && !closed) await inTime(catchUp()).catch(() => {})
    },
    async revoke(revocation) {
      known.add(revocation)
      await store.revoke(revocation)
      if (revocation.kind === 'subject') for (const listener of listeners) await listener(revocation.id)
    },
    onSubjectRevoked: (listener) => void listeners.push(listener),
    async close() {
      closed = true
      clearTimeout(timer)
      const end = subscription
      await reading
      if (typeof end === 'function') await end()
    }
  }
}
