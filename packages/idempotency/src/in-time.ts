/**
 * Returns what the work resolves to; rejects when the work throws, rejects or times out. After a timeout, `late` is called with the value
 * if the work still resolves. A synchronous result is returned without a promise and without a timer.
 */
export function inTime<Result>(
  work: () => Result | Promise<Result>,
  milliseconds: number,
  late?: (result: Result) => void
): Result | Promise<Result> {
  try {
    const result = work()
    return result instanceof Promise ? raced(result, milliseconds, late) : result
  } catch (err) {
    return Promise.reject(err)
  }
}

async function raced<Result>(work: Promise<Result>, milliseconds: number, late?: (result: Result) => void): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    reject(new Error(`The store timed out after ${milliseconds} ms.`))
    if (late) work.then(late, () => {})
  }, milliseconds)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}
