import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { type RevocableClaims, RevocationSet } from './revocation-set.ts'
import type { Revocation, RevocationStore } from './revocation-store.ts'

/** What every request asks, in memory. */
export interface Revocations {
  /** Whether the token with these claims was revoked, as far as this process knows. */
  isRevoked(claims: RevocableClaims): boolean
  /** How long ago this process last knew all revocations; `Infinity` before it first did. */
  readonly staleMilliseconds: number
  /** Called by the plugin when the service is ready. */
  start?(): Promise<void>
  /** Called by the plugin when the service closes. */
  close?(): Promise<void>
}

/** The revocations of all processes, kept up to date in the memory of this one. */
export interface RevocationFeed extends Revocations {
  /**
   * Reads all that there is and goes on listening; once it has begun, another call changes nothing. Never rejects: what fails is
   * told to `onError` and tried again.
   */
  start(): Promise<void>
  /** Revokes: here at once, elsewhere when the others hear of it. Rejects when the store could not keep it; then it counts here only. */
  revoke(revocation: Revocation): Promise<void>
  /** Stops listening. */
  close(): Promise<void>
}

/** How a {@link revocationFeed} listens. */
export interface RevocationFeedOptions {
  readonly store: RevocationStore
  /**
   * How often the store is asked, whether or not it said that there is news: the longest time, while the store answers, until
   * a revocation elsewhere counts here too.
   * @default 2
   */
  readonly pollSeconds?: number | undefined
  /** When the store has not answered for so long, the question is given up and asked again. @default 2 */
  readonly timeoutSeconds?: number | undefined
  /** Is told what went wrong with the store, for the log. @default nobody is told */
  readonly onError?: ((error: unknown) => void) | undefined
}

/**
 * Keeps this process informed of what any process revokes (rule U4). News come by the store's subscription; a look at fixed times finds
 * what a cut subscription did not tell, and mends the subscription. Throws a `TypeError` of one line for options that make no sense.
 */
export function revocationFeed({ store, pollSeconds = 2, timeoutSeconds = 2, onError = () => {} }: RevocationFeedOptions): RevocationFeed {
  for (const [name, seconds] of Object.entries({ pollSeconds, timeoutSeconds })) {
    if (typeof seconds !== 'number' || !(seconds >= 0.01 && seconds <= 60)) {
      throw new TypeError(`authentication: ${name} is ${String(seconds)}. Give a number of seconds from 0.01 to 60.`)
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
    // What is revoked while the store answers may be missing from the answer.
    completeAt = startedAt
  }

  /** One question at a time: news that come meanwhile make it ask once more. */
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
      // One that comes too late is not wanted any more.
      beginning.then((late) => late(), onError)
    }
  }

  async function look(): Promise<void> {
    // First the subscription, so that nothing falls between what was read and what is told.
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
      throw new Error(`The store of revocations has not answered for ${timeoutSeconds} s.`)
    })
    // When the answer wins, this is aborted and nobody listens.
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
