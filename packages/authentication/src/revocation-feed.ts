import { callback, describeOptions, duration, instance, type OptionsOf, required } from '@concordat/plugin-kit/options'
import { inTime, RevocationReader } from './revocation-reader.ts'
import type { RevocableClaims } from './revocation-set.ts'
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
  const reader = new RevocationReader({ store, pollMs, timeoutMs, onError, onAvailable: () => pollIn(soonMs) })
  const { known } = reader
  const listeners: ((subject: string) => Promise<void>)[] = []
  let subscription: (() => Promise<void>) | 'beginning' | undefined
  let timer: NodeJS.Timeout | undefined
  let firstPoll: Promise<void> | undefined
  let closed = false
  let isPolling = false

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
      const begun = store.subscribe(() => void (closed || reader.catchUp()), lost)
      // A subscription that begins after the timeout is ended.
      end = await inTime(begun, timeoutMs, (late) => void late())
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
    const hasFailed = reader.isRefused
    // Otherwise subscribes first, so that no revocation is missed between the read and the notifications.
    if (!hasFailed) await listen()
    await reader.catchUp()
    known.forgetOver(Date.now())
    isPolling = false
    pollIn(hasFailed || reader.isRefused ? soonMs : pollMs)
  }

  // A poll that runs determines when the next one is.
  function pollIn(milliseconds: number) {
    if (closed || isPolling) return
    clearTimeout(timer)
    timer = setTimeout(() => void poll(), milliseconds).unref()
  }

  return {
    isRevoked: (claims) => known.has(claims),
    get staleMs() {
      return reader.staleMs
    },
    start: () => (firstPoll ??= poll()),
    async refresh() {
      if (!reader.isFailing && !closed) await inTime(reader.catchUp(), timeoutMs).catch(() => {})
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
      await reader.reading
      if (typeof end === 'function') await end()
    }
  }
}
