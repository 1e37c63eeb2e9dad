import type { FastifyReply } from 'fastify'

const previous: unique symbol = Symbol('concordat.previousWaiting')
const next: unique symbol = Symbol('concordat.nextWaiting')
const since: unique symbol = Symbol('concordat.waitingSince')

/** What a reply carries while it waits; decorate replies with these, each `null`, so that all have one shape. */
export const waitingFields: readonly symbol[] = [previous, next, since]

interface Link {
  [previous]: Link | null
  [next]: Link | null
  [since]: number | null
}
type WaitingReply = FastifyReply & Link

/**
 * The replies that have not been answered, oldest first. All wait equally long, so one look at the oldest tells whether any is
 * late: Fastify's own timeout sets and clears a timer, a listener and an AbortController for each request, which costs a
 * fifth of a small one.
 */
export class WaitingReplies {
  readonly #patience: number
  readonly #ends: Link
  #ticks = 0

  /** @param patience how many ticks a reply may wait */
  constructor(patience: number) {
    this.#patience = patience
    const ends = { [since]: null } as Link
    ends[previous] = ends[next] = ends
    this.#ends = ends
  }

  get isEmpty(): boolean {
    return this.#ends[next] === this.#ends
  }

  add(reply: FastifyReply): void {
    const link = reply as WaitingReply
    const last = this.#ends[previous] as Link
    link[since] = this.#ticks
    link[previous] = last
    link[next] = this.#ends
    last[next] = this.#ends[previous] = link
  }

  /** Does nothing for a reply that does not wait. */
  remove(reply: FastifyReply): void {
    const link = reply as WaitingReply
    const before = link[previous]
    const after = link[next]
    if (before === null || after === null) return
    before[next] = after
    after[previous] = before
    link[previous] = link[next] = null
  }

  /** Lets one tick pass, and returns the replies that have waited too long; they wait no more. */
  tick(): FastifyReply[] {
    this.#ticks += 1
    const late: FastifyReply[] = []
    for (let oldest = this.#ends[next] as Link; oldest !== this.#ends; oldest = this.#ends[next] as Link) {
      if ((oldest[since] as number) + this.#patience > this.#ticks) break
      const reply = oldest as WaitingReply
      this.remove(reply)
      late.push(reply)
    }
    return late
  }
}
