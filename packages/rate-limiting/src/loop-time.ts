/** The time that the requests of a client took from the event loop. */
interface Use {
  ms: number
  requests: number
}

// Beyond these, the time of further clients is not measured. It is a matter of one client, or of a few.
const maxClients = 10_000
// A client whose requests are only many is a matter of the rate limits and of the requests in flight.
const timesOthers = 4
const leastPart = 0.25

/** The time that each client took from the event loop in the last period and in the one before. */
export class LoopTime {
  #recent = new Map<string, Use>()
  #former = new Map<string, Use>()
  readonly #refused = new Set<string>()
  #measured: { readonly client: string; readonly since: number } | undefined

  /** Measures what a request of a client takes, until it waits for something, or until another request begins before that. */
  begin(client: string): void {
    const measured = { client, since: performance.now() }
    this.#end(measured.since)
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

  /** Whether the requests of a client are refused. */
  isRefused(client: string): boolean {
    return this.#refused.size > 0 && this.#refused.has(client)
  }

  /**
   * Refuses the client that took the most time, if it is a quarter of all or more and a request of it takes at least four times as long as one of the
   * others. Returns false if there is none, for example because there is only one client.
   */
  refuseHeaviest(): boolean {
    const uses = this.#uses()
    let [heaviest, most] = ['', { ms: 0, requests: 0 }]
    const all = { ms: 0, requests: 0 }
    for (const [client, { ms, requests }] of uses) {
      all.ms += ms
      all.requests += requests
      if (ms > most.ms && !this.#refused.has(client)) [heaviest, most] = [client, { ms, requests }]
    }
    const ofOthers = (all.ms - most.ms) / (all.requests - most.requests)
    if (!(most.ms >= leastPart * all.ms && most.ms / most.requests >= timesOthers * ofOthers)) return false
    this.#refused.add(heaviest)
    return true
  }

  /** Begins a period. A client is accepted again when it took no time in a whole one. */
  beginPeriod(): void {
    for (const client of this.#refused) if (!this.#recent.has(client)) this.#refused.delete(client)
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
