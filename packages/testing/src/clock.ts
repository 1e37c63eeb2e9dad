/** A clock that only moves when a test moves it. */
export interface TestClock {
  /** Returns milliseconds since the Unix epoch, for the option `now` of the packages. */
  readonly now: () => number
  /** Moves the clock forward by this number of seconds. */
  readonly advance: (seconds: number) => void
}

/**
 * Creates a clock for the option `now`. It begins at `start`, by default now: a date, its ISO 8601 text, or milliseconds since the Unix epoch. Timers
 * of Node.js do not follow it.
 *
 * @example
 * const clock = testClock('2026-01-31T12:00:00Z')
 * const issuer = tokenIssuer({ now: clock.now, … })
 * clock.advance(15 * 60)
 */
export function testClock(start: Date | string | number = Date.now()): TestClock {
  let time = new Date(start).getTime()
  if (Number.isNaN(time))
    throw new TypeError(`testing: the start of the clock, ${JSON.stringify(start)}, is not a time. Use an ISO 8601 text.`)
  return {
    now: () => time,
    advance(seconds) {
      if (!(seconds >= 0)) throw new TypeError(`testing: a clock advances by seconds from 0, but not by ${seconds}.`)
      time += Math.round(seconds * 1000)
    }
  }
}
