import type { Test } from 'tap'

/** Lets a test advance `performance.now()`, for code that measures elapsed time with it. Timers are not affected. */
export function elapsedTime(t: Test): { moveBy(milliseconds: number): void } {
  const now = performance.now.bind(performance)
  let moved = 0
  t.intercept(performance, 'now', { value: () => now() + moved })
  return { moveBy: (milliseconds) => void (moved += milliseconds) }
}
