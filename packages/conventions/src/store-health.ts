import { withDeadline } from '@concordat/plugin-kit/deadline'
import type { FastifyBaseLogger } from 'fastify'

/** A store whose availability is checked in the background, for example `openDatabase()` of `@concordat/postgres`. */
export interface CheckedStore {
  /**
   * Resolves when a request that needs the store would succeed, also one that writes; rejects otherwise. Resolves with `'busy'` when that is not
   * known, because the requests use all connections: the store then counts as before. A store that only reads should also try to write.
   */
  check(): Promise<unknown>
  /** Returns whether an error with which a request failed means that further writes would fail too. @default `check` alone decides */
  readonly refusesWrites?: ((error: unknown) => boolean) | undefined
}

const timeoutMs = 3000
// A process that is overloaded may see the result of a check late, so one timeout is not enough.
const maxTimeouts = 2
const longestCheckMs = 30_000

class CheckTimedOut extends Error {}

/** Whether a store is available, as the last check or the last write says. */
export class StoreHealth {
  readonly name: string
  readonly isRequired: boolean
  isAvailable = true
  readonly #store: CheckedStore
  readonly #log: FastifyBaseLogger
  #running: Promise<unknown> | undefined
  #startedAt = 0
  #timeouts = 0

  constructor(name: string, store: CheckedStore, isRequired: boolean, log: FastifyBaseLogger) {
    this.name = name
    this.isRequired = isRequired
    this.#store = store
    this.#log = log
  }

  /** Checks the store, and never rejects. A check that still runs is not started a second time, unless its result seems to be lost. */
  async check(): Promise<void> {
    if (performance.now() - this.#startedAt > longestCheckMs) this.#running = undefined
    const running = this.#running ?? this.#start()
    try {
      const outcome = await withDeadline(running, {
        ms: timeoutMs,
        onTimeout: () => new CheckTimedOut(`No response in ${timeoutMs / 1000} s.`)
      })
      this.#timeouts = 0
      if (outcome !== 'busy') this.#change(true)
    } catch (error) {
      if (error instanceof CheckTimedOut) this.#timeouts += 1
      if (!(error instanceof CheckTimedOut) || this.#timeouts >= maxTimeouts) this.#change(false, error)
    }
  }

  /** Notes that a request failed with this error. */
  failed(error: unknown): void {
    if (this.#store.refusesWrites?.(error) === true) this.#change(false, error)
  }

  #start() {
    this.#startedAt = performance.now()
    const running = (async () => this.#store.check())().finally(() => {
      if (this.#running === running) this.#running = undefined
    })
    this.#running = running
    return running
  }

  #change(isAvailable: boolean, err?: unknown) {
    if (this.isAvailable === isAvailable) return
    this.isAvailable = isAvailable
    const details = { store: this.name, required: this.isRequired }
    if (isAvailable) this.#log.info(details, 'health: the store is available again')
    else this.#log.error({ ...details, err }, 'health: the store is not available')
  }
}
