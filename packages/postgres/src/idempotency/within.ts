/** The result, unless it takes longer; `late` is told of one that comes after all. */
export function within<Result>(seconds: number, work: Promise<Result>, late?: (result: Result) => void): Promise<Result> {
  return new Promise((resolve, reject) => {
    let isOver = false
    const timer = setTimeout(() => {
      isOver = true
      reject(new Error(`postgres: the database did not answer within ${seconds} seconds.`))
    }, seconds * 1000)
    work.then((result) => (isOver ? late?.(result) : resolve(result)), reject).finally(() => clearTimeout(timer))
  })
}
