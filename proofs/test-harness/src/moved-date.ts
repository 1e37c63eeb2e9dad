import { mock } from 'node:test'
import type { Test } from 'tap'

/** Sets `Date` to a time until the test ends. It stands still, and moves when the test sets `now`. Timers are not affected. */
export function movedDate(t: Test, start: number): { now: number } {
  // A test may begin again.
  mock.timers.reset()
  mock.timers.enable({ apis: ['Date'], now: start })
  t.teardown(() => mock.timers.reset())
  return {
    get now() {
      return Date.now()
    },
    set now(time) {
      mock.timers.setTime(time)
    }
  }
}
