import type { Test } from 'tap'

/** Stops `performance.now()` at 0 until the test sets another time. Timers are not affected. */
export function stoppedTime(t: Test): { now: number } {
  const time = { now: 0 }
  // `t.intercept` records the stack of each call.
  performance.now = () => time.now
  t.teardown(() => Reflect.deleteProperty(performance, 'now'))
  return time
}

/** Lets a test advance `performance.now()`, for code that measures elapsed time with it. Timers are not affected. */
export function elapsedTime(t: Test): { moveBy(milliseconds: number): void } {
  const now = performance.now.bind(performance)
  let moved = 0
  t.intercept(performance, 'now', { value: () => now() + moved })
  return { moveBy: (milliseconds) => void (moved += milliseconds) }
}
