import { mock } from 'node:test'
import { atEndOf, type EndOfTest } from './cleanups.ts'

/** A clock that only moves when a test moves it. */
export interface TestClock {
  /** Moves `Date` forward by this number of seconds. */
  readonly advance: (seconds: number) => void
}

/**
 * Sets `Date` of this process until the test ends: to `start`, which is a date, its ISO 8601 text, or milliseconds since the Unix epoch; by default the
 * current time. It stands still until the test moves it. Timers do not follow it, and neither do databases. Throws a `TypeError` for a start that is not
 * a time, and an `Error` while another test has a clock.
 *
 * @example
 * const clock = testClock(t, '2026-01-31T12:00:00Z')
 * clock.advance(15 * 60)
 */
export function testClock(t: EndOfTest, start: Date | string | number = Date.now()): TestClock {
  const time = new Date(start).getTime()
  if (Number.isNaN(time))
    throw new TypeError(`testing: the start of the clock, ${JSON.stringify(start)}, is not a time. Use an ISO 8601 text.`)
  try {
    mock.timers.enable({ apis: ['Date'], now: time })
  } catch (cause) {
    throw new Error('testing: Date is replaced already. Use one clock in a test, and none in tests that run at the same time.', { cause })
  }
  atEndOf(t, () => mock.timers.reset())
  return {
    advance(seconds) {
      if (!(seconds >= 0)) throw new TypeError(`testing: a clock advances by seconds from 0, but not by ${seconds}.`)
      mock.timers.setTime(Date.now() + Math.round(seconds * 1000))
    }
  }
}
