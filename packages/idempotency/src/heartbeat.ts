import type { FastifyBaseLogger } from 'fastify'
import { inTime } from './in-time.ts'
import type { Run } from './run.ts'
import type { IdempotencyStore } from './store.ts'

/** Settings for the renewal of claims. */
export interface LeaseTerms {
  readonly store: IdempotencyStore
  readonly leaseMilliseconds: number
  readonly longestRunMilliseconds: number
  readonly storeTimeoutMilliseconds: number
}

interface Beat {
  readonly begunAt: number
  /** When the last renewal was requested. */
  askedAt: number
  heldUntil: number
  isAsking: boolean
}

/**
 * Renews the claims of runs, each from a third of its lease on, until `letGo`. All runs share a timer, and nothing is recorded about a run
 * before the timer first sees it: most runs have ended by then.
 */
export class Heartbeat {
  // An array in which each run stores its index: a small Map whose entries come and go is reallocated all the time.
  readonly #held: Run[] = []
  readonly #beats = new Map<Run, Beat>()
  readonly #terms: LeaseTerms
  readonly #log: FastifyBaseLogger
  #timer: NodeJS.Timeout | undefined
  #lookedAt = 0

  constructor(terms: LeaseTerms, log: FastifyBaseLogger) {
    this.#terms = terms
    this.#log = log
  }

  /** Renews the claim until `letGo`, the claim is lost, or the run has lasted too long. */
  hold(run: Run): void {
    run.place = this.#held.push(run) - 1
    this.#timer ??= this.#start()
  }

  /** Stops renewing the claim. */
  letGo(run: Run): void {
    if (run.place === -1) return
    const last = this.#held.pop() as Run
    if (last !== run) this.#held[run.place] = last
    last.place = run.place
    run.place = -1
    if (this.#beats.size > 0) this.#beats.delete(run)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #start() {
    this.#lookedAt = performance.now()
    return setInterval(() => this.#renewAll(), this.#terms.leaseMilliseconds / 6).unref()
  }

  #renewAll() {
    const now = performance.now()
    // A copy, because runs that are aborted leave the array.
    for (const run of this.#held.slice()) {
      const beat = this.#beats.get(run) ?? this.#firstBeat(run)
      if (now - beat.begunAt >= this.#terms.longestRunMilliseconds) this.#giveUp(run)
      else if (!beat.isAsking && now - beat.askedAt >= this.#terms.leaseMilliseconds / 3) void this.#renew(run, beat, now)
    }
    this.#lookedAt = now
  }

  // The run was claimed after the last check. Its age is rather overestimated than underestimated.
  #firstBeat(run: Run) {
    const begunAt = this.#lookedAt
    const beat = { begunAt, askedAt: begunAt, heldUntil: begunAt + this.#terms.leaseMilliseconds, isAsking: false }
    this.#beats.set(run, beat)
    return beat
  }

  async #renew(run: Run, beat: Beat, now: number) {
    const { store, leaseMilliseconds, storeTimeoutMilliseconds } = this.#terms
    beat.askedAt = now
    beat.isAsking = true
    try {
      run.isLost = !(await inTime(() => store.renew(run.claim, leaseMilliseconds), storeTimeoutMilliseconds))
      if (run.isLost) return this.#giveUp(run)
      beat.heldUntil = now + leaseMilliseconds
    } catch (err) {
      this.#log.warn({ err }, 'idempotency: a claim was not renewed')
      if (performance.now() >= beat.heldUntil) run.abort()
    } finally {
      beat.isAsking = false
    }
  }

  #giveUp(run: Run) {
    this.letGo(run)
    run.abort()
  }
}
