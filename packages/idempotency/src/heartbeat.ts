import type { FastifyBaseLogger } from 'fastify'
import { inTime } from './in-time.ts'
import type { Run } from './run.ts'
import type { IdempotencyStore } from './store.ts'

/** What is needed to keep claims. */
export interface LeaseTerms {
  readonly store: IdempotencyStore
  readonly leaseMilliseconds: number
  readonly longestRunMilliseconds: number
  readonly storeTimeoutMilliseconds: number
}

interface Beat {
  readonly begunAt: number
  /** When the last renewal was asked for. */
  askedAt: number
  heldUntil: number
  isAsking: boolean
}

/** Renews the claims of runs, each from a third of its lease on, until they are let go. One timer for all: most runs end before they need it. */
export class Heartbeat {
  readonly #beats = new Map<Run, Beat>()
  readonly #terms: LeaseTerms
  readonly #log: FastifyBaseLogger
  #timer: NodeJS.Timeout | undefined

  constructor(terms: LeaseTerms, log: FastifyBaseLogger) {
    this.#terms = terms
    this.#log = log
  }

  /** Renews the claim until `letGo`, the claim is lost, or the run has lasted too long. */
  hold(run: Run): void {
    const { leaseMilliseconds } = this.#terms
    const begunAt = performance.now()
    this.#beats.set(run, { begunAt, askedAt: begunAt, heldUntil: begunAt + leaseMilliseconds, isAsking: false })
    this.#timer ??= setInterval(() => this.#renewAll(), leaseMilliseconds / 6).unref()
  }

  letGo(run: Run): void {
    this.#beats.delete(run)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #renewAll() {
    const now = performance.now()
    for (const [run, beat] of this.#beats) {
      if (now - beat.begunAt >= this.#terms.longestRunMilliseconds) this.#giveUp(run)
      else if (!beat.isAsking && now - beat.askedAt >= this.#terms.leaseMilliseconds / 3) void this.#renew(run, beat, now)
    }
  }

  async #renew(run: Run, beat: Beat, now: number) {
    const { store, leaseMilliseconds, storeTimeoutMilliseconds } = this.#terms
    beat.askedAt = now
    beat.isAsking = true
    try {
      run.isLost = !(await inTime(store.renew(run.claim, leaseMilliseconds), storeTimeoutMilliseconds))
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
