import type { ConnectionLoad } from './postgres.ts'

/** The place of a route at the pool: how many connections its requests have, and which wait for one. */
interface Line {
  held: number
  /** How long a connection is used at a time, as a moving average in milliseconds. */
  usualMs: number
  readonly isLimited: boolean
  readonly waiting: Waiter[]
}

interface Waiter {
  readonly since: number
  readonly enter: () => void
}

// A route whose queries are slow may wait longer, but not for as long as a lock is waited for.
const shortestQueueMs = 50
const longestQueueMs = 500

/** The error of a wait for a connection. The database may be available. */
export class AllConnectionsInUse extends Error {
  constructor(waitedMs: number) {
    super(`postgres: all connections were in use for ${waitedMs / 1000} s.`)
  }
}

/**
 * Gives the connections of a pool to the routes of a service. A route gets at most twice as many as it leaves free, and one more: 7 of 10. So several
 * routes whose table is locked leave some to the others too (Choudhury and Hahne, 1998). Work that belongs to no route gets every free connection.
 */
export class ConnectionGate {
  readonly #maxWaitMs: number
  readonly #lines = new Map<object | undefined, Line>()
  readonly #max: number
  #free: number

  constructor(maxConnections: number, maxWaitMs: number) {
    this.#max = this.#free = maxConnections
    this.#maxWaitMs = maxWaitMs
  }

  /** The connections in use, and the requests that wait for one. */
  get load(): ConnectionLoad {
    const waiting = [...this.#lines.values()].reduce((sum, line) => sum + line.waiting.length, 0)
    return { used: this.#max - this.#free, max: this.#max, waiting }
  }

  /** Calls `enter` with the function that gives the connection back, now or when one is free, or `refuse` after the maximum wait. */
  enter(route: object | undefined, enter: (leave: () => void) => void, refuse: (error: Error) => void): void {
    const line = this.#lineOf(route)
    const begin = () => {
      const since = performance.now()
      enter(() => this.#leave(line, performance.now() - since))
    }
    if (line.waiting.length > 0 || !this.#mayEnter(line)) return this.#wait(line, begin, refuse)
    this.#take(line)
    begin()
  }

  /** Returns whether a further request would wait longer than twice the usual use of a connection, computed, because pauses of the process would count. */
  isCongested(route: object | undefined): boolean {
    const line = this.#lines.get(route)
    const [first] = line?.waiting ?? []
    if (line === undefined || first === undefined) return false
    const expectedMs = (line.waiting.length * line.usualMs) / Math.max(1, line.held)
    const isLong = expectedMs > Math.min(Math.max(2 * line.usualMs, shortestQueueMs), longestQueueMs)
    return isLong || performance.now() - first.since > longestQueueMs
  }

  #lineOf(route: object | undefined): Line {
    const known = this.#lines.get(route)
    if (known !== undefined) return known
    const line = { held: 0, usualMs: 0, isLimited: route !== undefined, waiting: [] }
    this.#lines.set(route, line)
    return line
  }

  #mayEnter({ held, isLimited }: Line) {
    return this.#free > 0 && (!isLimited || held + 1 <= 2 * (this.#free - 1) + 1)
  }

  #take(line: Line) {
    this.#free -= 1
    line.held += 1
  }

  #wait(line: Line, begin: () => void, refuse: (error: Error) => void) {
    const waiter = {
      since: performance.now(),
      enter: () => {
        clearTimeout(timer)
        begin()
      }
    }
    const timer = setTimeout(() => {
      line.waiting.splice(line.waiting.indexOf(waiter), 1)
      refuse(new AllConnectionsInUse(this.#maxWaitMs))
    }, this.#maxWaitMs)
    line.waiting.push(waiter)
  }

  #leave(line: Line, usedMs: number) {
    this.#free += 1
    line.held -= 1
    line.usualMs += (usedMs - line.usualMs) / 8
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#take(next)
      next.waiting.shift()?.enter()
    }
  }

  /** Returns the line whose first request has waited longest, of those that may have a connection. */
  #next() {
    let oldest: Line | undefined
    for (const line of this.#lines.values()) {
      const [first] = line.waiting
      if (first !== undefined && this.#mayEnter(line) && first.since < (oldest?.waiting[0]?.since ?? Number.POSITIVE_INFINITY))
        oldest = line
    }
    return oldest
  }
}
