/** Runs a task when its turn comes; rejects immediately with the error of `full` when the queue is full. */
export type WorkLimit = <Result>(work: () => Promise<Result>) => Promise<Result>

/** Creates a concurrency limit: at most `atOnce` tasks run at the same time, and at most `waiting` more tasks wait in order of arrival. */
export function workLimit(atOnce: number, waiting: number, full: () => Error): WorkLimit {
  const queue: (() => void)[] = []
  let running = 0

  return async (work) => {
    if (running >= atOnce) {
      if (queue.length >= waiting) throw full()
      // A finished task hands its place to the next in the queue, so that no later task can take it.
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
