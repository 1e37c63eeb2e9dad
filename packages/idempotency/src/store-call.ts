import { withDeadline } from '@concordat/deadline'

/** The callbacks for a call to the store that times out. */
export interface StoreTimeout<Result> {
  /** Called when the call times out, so that it can be stopped. */
  readonly onTimeout?: () => void
  /** Called with the result if it arrives after the timeout. */
  readonly onLateResult?: ((result: Result) => void) | undefined
}

/**
 * Calls the store with a timeout. Returns what the call resolves to; rejects when it throws, rejects or times out. A synchronous result is
 * returned without a promise and without a timer.
 */
export function callStore<Result>(
  call: () => Result | Promise<Result>,
  timeoutMs: number,
  { onTimeout, onLateResult }: StoreTimeout<Result> = {}
): Result | Promise<Result> {
  try {
    const result = call()
    if (!(result instanceof Promise)) return result
    return withDeadline(result, {
      ms: timeoutMs,
      onTimeout() {
        onTimeout?.()
        return new Error(`The store timed out after ${timeoutMs / 1000} s.`)
      },
      onLateResult
    })
  } catch (err) {
    return Promise.reject(err)
  }
}
