import { longestRetrySeconds } from './errors.ts'
import { InFlight, type Slot } from './in-flight.ts'
import { LoopTime } from './loop-time.ts'
import type { OverloadSettings } from './options.ts'

const initialLimit = 200
const growth = 4
// A single late measurement is a long task, such as a garbage collection. Only what stays is a queue.
const measurements = 3
// A request that takes longer waits for something else than this process: a long poll, a hijacked connection, a handler that hangs.
const longestMs = 10_000
const shortestSpreadSeconds = 3
// A refusal costs about a tenth of the smallest request that does something.
const refusalWeight = 0.1
// Two seconds.
const measurementsInPeriod = 40

/**
 * Decides which requests are accepted. The limit of requests in flight is adapted by the delay of the event loop: additive increase, and
 * multiplicative decrease by the ratio of the accepted delay to the measured one. As in CoDel (RFC 8289), the measured delay is the smallest of the
 * last measurements. Delays by refusals do not count: a lower limit would only add to them.
 */
export class Admission {
  readonly #settings: OverloadSettings
  readonly #inFlight = new InFlight()
  readonly #delays: number[] = []
  /** What each client takes from the event loop. */
  readonly loopTime: LoopTime = new LoopTime()
  #measurementsLeft = measurementsInPeriod
  #limit: number
  #wasFull = false
  #accepted = 0
  #refused = 0
  // How many requests arrive for each that is accepted.
  #pressure = 1

  constructor(settings: OverloadSettings) {
    this.#settings = settings
    this.#limit = Math.min(Math.max(initialLimit, settings.minInFlight), settings.maxInFlight)
  }

  /** The requests in flight. */
  get size(): number {
    return this.#inFlight.size
  }

  /** The number of requests in flight from which on not every request is accepted. */
  get limit(): number {
    return this.#limit
  }

  /** Accepts a request, or returns undefined. When there are too many, or its route `isCongested`, clients with few requests in flight are accepted. */
  enter(address: string, client: string, isCongested: boolean): Slot | undefined {
    const { size } = this.#inFlight
    if (size >= this.#limit) this.#wasFull = true
    const slot = { address, client, since: performance.now(), place: -1 }
    if ((isCongested || size >= this.#limit) && !this.#inFlight.isWithinShare(slot, Math.min(size, this.#limit))) {
      this.#refused += 1
      return undefined
    }
    this.#accepted += 1
    this.#inFlight.add(slot)
    return slot
  }

  /** Counts an accepted request no longer. */
  leave(slot: Slot): void {
    this.#inFlight.remove(slot)
  }

  /** Counts an accepted request no longer until the returned function is called. */
  pause(slot: Slot): () => void {
    if (!this.#inFlight.remove(slot)) return () => {}
    return () => {
      slot.since = performance.now()
      this.#inFlight.add(slot)
    }
  }

  /** Returns whether a request is accepted that was accepted before its client was known. */
  admitClient(client: string, slot: Slot): boolean {
    if (this.loopTime.accepts(client, slot)) return true
    this.#refused += 1
    return false
  }

  /** Returns the seconds after which a refused client may retry: random, so that not all return together, from a range that grows with their number. */
  retryAfterSeconds(): number {
    const spread = Math.min(Math.max(shortestSpreadSeconds, Math.ceil(this.#pressure)), longestRetrySeconds)
    return 1 + Math.floor(Math.random() * spread)
  }

  /** Adapts the limit to a measured delay of the event loop. */
  adapt(delayMs: number): void {
    const { maxEventLoopDelayMs, minInFlight, maxInFlight } = this.#settings
    this.#inFlight.removeBefore(performance.now() - longestMs)
    const accepted = Math.max(1, this.#accepted)
    this.#delays.push((delayMs * accepted) / (accepted + refusalWeight * this.#refused))
    if (this.#delays.length > measurements) this.#delays.shift()
    const standing = this.#delays.length < measurements ? 0 : Math.min(...this.#delays)
    const { size } = this.#inFlight
    this.#measurementsLeft -= 1
    if (this.#measurementsLeft === 0) {
      this.#measurementsLeft = measurementsInPeriod
      this.loopTime.beginPeriod()
    }
    if (standing > maxEventLoopDelayMs && this.loopTime.limitHeaviest()) {
      // What follows shows whether this was enough.
      this.#delays.length = 0
    } else if (standing > maxEventLoopDelayMs) {
      // Not while there are more in flight than the limit: it was decreased, and they still have to leave.
      if (size <= this.#limit) this.#limit = Math.max(minInFlight, Math.floor(size * Math.max(0.5, maxEventLoopDelayMs / standing)))
    } else if (this.#wasFull || this.#limit < initialLimit) {
      this.#limit = Math.min(maxInFlight, this.#limit + growth)
    }
    this.#wasFull = false
    if (this.#accepted + this.#refused > 0) this.#pressure += ((this.#accepted + this.#refused) / accepted - this.#pressure) / 10
    this.#accepted = this.#refused = 0
  }
}
