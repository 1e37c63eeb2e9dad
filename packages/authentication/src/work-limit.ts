/** Runs a piece of work when its turn comes; rejects at once with what `full` makes when too many wait already. */
export type WorkLimit = <Result>(work: () => Promise<Result>) => Promise<Result>

/** Lets `atOnce` pieces of work run and `waiting` more wait, first come, first served. */
export function workLimit(atOnce: number, waiting: number, full: () => Error): WorkLimit {
  const queue: (() => void)[] = []
  let running = 0

  return async (work) => {
    if (running >= atOnce) {
      if (queue.length >= waiting) throw full()
      // Whoever ends hands its place over, so that nobody who comes in between can take it.
      await new Promise<void>((resolve) => queue.push(resolve))
    } else running += 1
    try {
      return await work()
    } finally {
      const next = queue.shift()
      if (next) next()
      else running -= 1
    }
  }
}
