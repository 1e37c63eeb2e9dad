import type { FastifyBaseLogger } from 'fastify'

const betweenWrites = 500

/** Functions that report the progress of a running job and wait for the pending write. */
export interface Progress {
  readonly progress: (done: number, total?: number) => void
  /** Waits for the pending write. */
  readonly end: () => Promise<unknown>
}

/** Creates the function with which a handler reports progress, and the function that waits for the pending write. */
export function progressOf(now: () => number, write: (percent: number) => Promise<unknown>, log: FastifyBaseLogger): Progress {
  let [percent, writtenAt] = [0, Number.NEGATIVE_INFINITY]
  let writing: Promise<unknown> = Promise.resolve()

  return {
    progress: (done, total = 100) => {
      const reached = total > 0 && Number.isFinite(done) ? Math.min(100, Math.max(0, (done / total) * 100)) : 0
      percent = Math.max(percent, Math.round(reached * 10) / 10)
      if (now() - writtenAt < betweenWrites) return
      writtenAt = now()
      writing = writing.then(() => write(percent)).catch((err: unknown) => log.warn({ err }, 'jobs: progress could not be written'))
    },
    end: () => writing
  }
}
