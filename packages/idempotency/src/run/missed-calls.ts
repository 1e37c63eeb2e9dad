import { outageLog } from '@concordat/plugin-kit/outage-log'
import type { FastifyBaseLogger } from 'fastify'
import { callStore } from './store-call.ts'

interface MissedCall {
  readonly repeat: () => unknown
  readonly bytes: number
  attempts: number
}

const maxCalls = 1000
const maxBytes = 16 * 1024 * 1024
const maxAttempts = 1000
const firstPauseMs = 50
const longestPauseMs = 1000

/**
 * Calls that the store did not confirm. They are repeated one after another until it does, so that no key stays blocked until the end of its lease. The
 * calls must be idempotent. Of too many calls, the oldest are dropped, and so is one that has failed 1,000 times.
 */
export class MissedCalls {
  #calls: MissedCall[] = []
  #bytes = 0
  #pauseMs = firstPauseMs
  #timer: NodeJS.Timeout | undefined
  readonly #timeoutMs: number
  readonly #report: (error: unknown) => void

  constructor(timeoutMs: number, log: FastifyBaseLogger) {
    const report = outageLog(log)
    this.#timeoutMs = timeoutMs
    this.#report = (error) =>
      report(error, 'idempotency: a key was not released, because the store fails; retries get 409 until its lease ends')
  }

  /** Repeats the call until it resolves. `bytes` is about the memory that it needs. */
  add(repeat: () => unknown, bytes = 0): void {
    this.#calls.push({ repeat, bytes, attempts: 0 })
    this.#bytes += bytes
    while (this.#calls.length > maxCalls || this.#bytes > maxBytes) this.#drop(new Error('Too many calls wait for the store.'))
    this.#timer ??= this.#later()
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#calls = []
  }

  #later() {
    return setTimeout(() => void this.#repeatAll(), this.#pauseMs).unref()
  }

  async #repeatAll() {
    for (let call = this.#calls[0]; call !== undefined; call = this.#calls[0]) {
      try {
        await callStore(call.repeat, this.#timeoutMs)
        this.#remove(call)
      } catch (error) {
        this.#pauseMs = Math.min(2 * this.#pauseMs, longestPauseMs)
        this.#postpone(call, error)
        this.#timer = this.#calls.length > 0 ? this.#later() : undefined
        return
      }
    }
    this.#pauseMs = firstPauseMs
    this.#timer = undefined
  }

  // A call that fails for a reason of its own does not delay the others.
  #postpone(call: MissedCall, error: unknown) {
    if (this.#calls[0] !== call) return
    call.attempts += 1
    if (call.attempts === maxAttempts) return this.#drop(error)
    this.#calls.push(...this.#calls.splice(0, 1))
  }

  #drop(error: unknown) {
    this.#remove(this.#calls[0] as MissedCall)
    this.#report(error)
  }

  // The call may have been dropped while it ran.
  #remove(call: MissedCall) {
    const at = this.#calls.indexOf(call)
    if (at === -1) return
    this.#calls.splice(at, 1)
    this.#bytes -= call.bytes
  }
}
