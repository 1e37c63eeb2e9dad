import type { FastifyReply } from 'fastify'

const previous: unique symbol = Symbol('concordat.previousWaiting')
const next: unique symbol = Symbol('concordat.nextWaiting')
const since: unique symbol = Symbol('concordat.waitingSince')

/**
 * The properties that {@link WaitingReplies} sets on a reply. Decorate replies with each of them as `null`, so that all replies have the same
 * shape.
 */
export const waitingFields: readonly symbol[] = [previous, next, since]

interface Link {
  [previous]: Link | null | undefined
  [next]: Link | null | undefined
  [since]: number | null
}
type WaitingReply = FastifyReply & Link

/**
 * The replies that have not been sent, oldest first. All have the same limit, so a check of the oldest reply shows whether any reply is
 * late. Fastify's own timeout sets and clears a timer, a listener and an AbortController for each request, which takes a fifth of the
 * time of a small request.
 */
export class WaitingReplies {
  readonly #patience: number
  readonly #ends: Link
  #ticks = 0

  /** @param patience the number of ticks that a reply may wait */
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

  /** Makes a reply the newest. Does nothing for a reply that is not waiting. */
  restart(reply: FastifyReply): void {
    if (!(reply as WaitingReply)[previous]) return
    this.remove(reply)
    this.add(reply)
  }

  /** Removes a reply. Does nothing for a reply that is not waiting, such as one that Fastify made without the decorated properties. */
  remove(reply: FastifyReply): void {
    const link = reply as WaitingReply
    const before = link[previous]
    const after = link[next]
    if (!before || !after) return
    before[next] = after
    after[previous] = before
    link[previous] = link[next] = null
  }

  /** Advances the clock by one tick. Removes and returns the replies that have waited too long. */
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
