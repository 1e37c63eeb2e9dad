/**
 * What the work resolves to, or a rejection when it throws, rejects or takes longer. `late` is then told what it resolved to after all.
 * What is known at once comes without a promise and without a timer.
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
    reject(new Error(`The store gave no answer within ${milliseconds} ms.`))
    if (late) work.then(late, () => {})
  }, milliseconds)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}
