/** Callbacks for a timeout. */
interface TooLate<Result> {
  /** Called immediately, so that the work can be stopped. */
  readonly giveUp?: () => void
  /** Called with the result if it arrives after the timeout. */
  readonly discard?: (result: Result) => void
}

/** Returns the result of the work, or rejects after this many seconds. */
export function within<Result>(seconds: number, work: Promise<Result>, { giveUp, discard }: TooLate<Result> = {}): Promise<Result> {
  return new Promise((resolve, reject) => {
    let isOver = false
    const timer = setTimeout(() => {
      isOver = true
      giveUp?.()
      reject(new Error(`postgres: the database did not respond within ${seconds} seconds.`))
    }, seconds * 1000)
    work.then((result) => (isOver ? discard?.(result) : resolve(result)), reject).finally(() => clearTimeout(timer))
  })
}
