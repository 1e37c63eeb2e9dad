/** What is done when the time is over. */
interface TooLate<Result> {
  /** At once, so that what still runs can be stopped. */
  readonly giveUp?: () => void
  /** With the result, when it comes after all. */
  readonly discard?: (result: Result) => void
}

/** The result, unless it takes longer. */
export function within<Result>(seconds: number, work: Promise<Result>, { giveUp, discard }: TooLate<Result> = {}): Promise<Result> {
  return new Promise((resolve, reject) => {
    let isOver = false
    const timer = setTimeout(() => {
      isOver = true
      giveUp?.()
      reject(new Error(`postgres: the database did not answer within ${seconds} seconds.`))
    }, seconds * 1000)
    work.then((result) => (isOver ? discard?.(result) : resolve(result)), reject).finally(() => clearTimeout(timer))
  })
}
