interface Deadline<Result> {
  readonly ms: number
  /** Returns the error with which the promise rejects. Can also stop the work. */
  readonly onTimeout: () => Error
  /** Called with a late result, so that it can be released. */
  readonly onLateResult?: ((result: Result) => void) | undefined
}

/**
 * Resolves or rejects like the work, or rejects with the error of `onTimeout` after `ms` milliseconds. A late rejection is ignored. A result that
 * arrived while this process did nothing else than compute is not late.
 */
export function withDeadline<Result>(work: Promise<Result>, deadline: Deadline<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const { ms, onTimeout, onLateResult } = deadline
    let last: NodeJS.Immediate | undefined
    const timer = setTimeout(() => {
      // After the event loop was blocked, timers run before a result that has arrived meanwhile is read.
      last = setImmediate(() => {
        reject(onTimeout())
        work.then(onLateResult, () => {})
      })
    }, ms)
    // Two callbacks, because `finally` would make another promise.
    const after =
      <Value>(settle: (value: Value) => void) =>
      (value: Value) => {
        clearTimeout(timer)
        clearImmediate(last)
        settle(value)
      }
    work.then(after<Result>(resolve), after<unknown>(reject))
  })
}

/** Waits until the work has ended, whether it resolves or rejects, but at most `ms` milliseconds. Never rejects. */
export async function waitAtMost(work: Promise<unknown>, ms: number): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  await Promise.race([work, late]).catch(() => {})
  clearTimeout(timer)
}
