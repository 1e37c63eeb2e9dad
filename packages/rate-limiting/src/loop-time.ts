import type { Slot } from './in-flight.ts'

/** The time that the requests of a client took from the event loop. */
interface Use {
  ms: number
  requests: number
}

/** A client that takes too much. */
interface Limited {
  /** Its last request that was accepted. */
  accepted: Slot | undefined
  periodsLeft: number
}

const limitedPeriods = 2
// Beyond these, the time of further clients is not measured. It is a matter of one client, or of a few.
const maxClients = 10_000
// A client whose requests are only many is a matter of the rate limits and of the requests in flight.
const timesOthers = 4
const leastPart = 0.25

/** The time that each client took from the event loop in the last period and in the one before. */
export class LoopTime {
  #recent = new Map<string, Use>()
  #former = new Map<string, Use>()
  readonly #limited = new Map<string, Limited>()
  #measured: { readonly client: string; readonly since: number } | undefined

  /** Measures what a request of a client takes, until it waits for something, or until another request begins before that. */
  begin(client: string): void {
    const measured = { client, since: performance.now() }
    if (this.#measured !== undefined) this.#end(measured.since)
    this.#measured = measured
    queueMicrotask(() => {
      if (this.#measured === measured) this.#end(performance.now())
    })
  }

  #end(now: number) {
    if (this.#measured !== undefined) this.#add(this.#measured.client, now - this.#measured.since)
    this.#measured = undefined
  }

  #add(client: string, ms: number) {
    const use = this.#recent.get(client)
    if (use !== undefined) {
      use.ms += ms
      use.requests += 1
    } else if (this.#recent.size < maxClients) {
      this.#recent.set(client, { ms, requests: 1 })
    }
  }

  /** Returns whether a request of a client is accepted: a client that takes too much has one in flight at a time. */
  accepts(client: string, slot: Slot): boolean {
    const limited = this.#limited.size === 0 ? undefined : this.#limited.get(client)
    if (limited === undefined) return true
    if (limited.accepted !== undefined && limited.accepted.place !== -1) return false
    limited.accepted = slot
    return true
  }

  /**
   * Limits the client that took the most time, if it is a quarter of all or more and a request of it takes at least four times as long as one of the
   * others. Returns false if there is none, for example because there is only one client.
   */
  limitHeaviest(): boolean {
    const uses = this.#uses()
    let [heaviest, most] = ['', { ms: 0, requests: 0 }]
    const all = { ms: 0, requests: 0 }
    for (const [client, { ms, requests }] of uses) {
      all.ms += ms
      all.requests += requests
      if (ms > most.ms && !this.#limited.has(client)) [heaviest, most] = [client, { ms, requests }]
    }
    const ofOthers = (all.ms - most.ms) / (all.requests - most.requests)
    if (!(most.ms >= leastPart * all.ms && most.ms / most.requests >= timesOthers * ofOthers)) return false
    this.#limited.set(heaviest, { accepted: undefined, periodsLeft: limitedPeriods })
    return true
  }

  /** Begins a period, and ends that of clients that were limited long enough. */
  beginPeriod(): void {
    for (const [client, limited] of this.#limited) {
      limited.periodsLeft -= 1
      if (limited.periodsLeft === 0) this.#limited.delete(client)
    }
    this.#former = this.#recent
    this.#recent = new Map()
  }

  #uses(): Map<string, Use> {
    const uses = new Map(this.#former)
    for (const [client, use] of this.#recent) {
      const { ms, requests } = uses.get(client) ?? { ms: 0, requests: 0 }
      uses.set(client, { ms: ms + use.ms, requests: requests + use.requests })
    }
    return uses
  }
}
