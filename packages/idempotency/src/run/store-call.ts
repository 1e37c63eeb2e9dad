import { withDeadline } from '@concordat/plugin-kit/deadline'

/** Calls the store with a timeout. Rejects when it throws, rejects or times out. A synchronous result is returned without a promise. */
export function callStore<Result>(
  call: () => Result | Promise<Result>,
  timeoutMs: number,
  { onTimeout, onLateResult }: { onTimeout?: () => void; onLateResult?: (result: Result) => void } = {}
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
