import type { Test } from 'tap'

/** Lets a test move on `performance.now()`, for code that measures elapsed time with it. Timers are not moved. */
export function elapsedTime(t: Test): { moveBy(milliseconds: number): void } {
  const now = performance.now.bind(performance)
  let moved = 0
  t.intercept(performance, 'now', { value: () => now() + moved })
  return { moveBy: (milliseconds) => void (moved += milliseconds) }
}
