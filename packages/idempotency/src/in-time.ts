/**
 * What the work resolves to, or a rejection when it takes longer. `late` is then told what it resolved to after all. What needs no time
 * gets no timer.
 */
export function inTime<Result>(
  work: Result | Promise<Result>,
  milliseconds: number,
  late?: (result: Result) => void
): Result | Promise<Result> {
  return work instanceof Promise ? raced(work, milliseconds, late) : work
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
