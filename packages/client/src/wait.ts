// A longer timer fires immediately.
const maxTimerMs = 2 ** 31 - 1

/** Resolves after this time, or rejects with the reason of the signal. Leaves no timer and no listener. */
export function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason)
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', stop)
        resolve()
      },
      Math.min(ms, maxTimerMs)
    )
    signal?.addEventListener('abort', stop, { once: true })
  })
}

/** Runs a function with a signal that is aborted after this time, or with one of the given signals. Leaves no timer and no listener. */
export async function withDeadline<Result>(
  ms: number,
  signals: readonly (AbortSignal | undefined)[],
  act: (signal: AbortSignal) => Promise<Result>
): Promise<Result> {
  const control = new AbortController()
  const stops = signals.map((signal) => {
    const stop = () => control.abort(signal?.reason)
    if (signal?.aborted === true) stop()
    else signal?.addEventListener('abort', stop, { once: true })
    return () => signal?.removeEventListener('abort', stop)
  })
  const timer = setTimeout(() => control.abort(new DOMException('', 'TimeoutError')), Math.max(1, Math.min(ms, maxTimerMs)))
  try {
    return await act(control.signal)
  } finally {
    clearTimeout(timer)
    for (const stop of stops) stop()
  }
}
