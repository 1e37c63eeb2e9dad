import type { FastifyBaseLogger } from 'fastify'
import type { Settings } from '../options.ts'
import type { Run } from './run.ts'
import { callStore } from './store-call.ts'

interface Beat {
  readonly begunAt: number
  /** When the last renewal was requested. */
  requestedAt: number
  heldUntil: number
  isRenewing: boolean
}

/**
 * Renews the claim of each run three times per lease period. All runs share a timer, and nothing is recorded about a run before the timer first sees it:
 * most runs have ended by then.
 */
export class Heartbeat {
  // An array in which each run stores its index: a small Map whose entries come and go is reallocated all the time.
  readonly #held: Run[] = []
  readonly #beats = new Map<Run, Beat>()
  readonly #terms: Settings
  readonly #log: FastifyBaseLogger
  #timer: NodeJS.Timeout | undefined
  #checkedAt = 0

  constructor(terms: Settings, log: FastifyBaseLogger) {
    this.#terms = terms
    this.#log = log
  }

  /** Renews the claim of a run until `letGo` is called, the claim is lost, or the maximum run time has passed. */
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
    this.#checkedAt = performance.now()
    return setInterval(() => this.#renewAll(), this.#terms.leaseMs / 6).unref()
  }

  #renewAll() {
    const now = performance.now()
    // A copy, because runs that are aborted leave the array.
    for (const run of this.#held.slice()) {
      const beat = this.#beats.get(run) ?? this.#firstBeat(run)
      if (now - beat.begunAt >= this.#terms.maxRunMs) this.#giveUp(run)
      else if (!beat.isRenewing && now - beat.requestedAt >= this.#terms.leaseMs / 3) void this.#renew(run, beat, now)
    }
    this.#checkedAt = now
  }

  // The run was claimed after the last check. Its age is rather overestimated than underestimated.
  #firstBeat(run: Run) {
    const begunAt = this.#checkedAt
    const beat = { begunAt, requestedAt: begunAt, heldUntil: begunAt + this.#terms.leaseMs, isRenewing: false }
    this.#beats.set(run, beat)
    return beat
  }

  async #renew(run: Run, beat: Beat, now: number) {
    const { store, leaseMs, storeTimeoutMs } = this.#terms
    beat.requestedAt = now
    beat.isRenewing = true
    try {
      run.isLost = !(await callStore(() => store.renew(run.claim, leaseMs), storeTimeoutMs))
      if (run.isLost) return this.#giveUp(run)
      beat.heldUntil = now + leaseMs
    } catch (err) {
      this.#log.warn({ err }, 'idempotency: a claim was not renewed')
      if (performance.now() >= beat.heldUntil) run.abort()
    } finally {
      beat.isRenewing = false
    }
  }

  #giveUp(run: Run) {
    this.letGo(run)
    run.abort()
  }
}
