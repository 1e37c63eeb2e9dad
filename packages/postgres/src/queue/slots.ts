import { waitAtMost } from '@concordat/plugin-kit/deadline'
import { type Claim, type Handler, type Outcome, retryAfterThrowSeconds } from '@concordat/work-queue'

/** A job that is running. */
export interface Slot {
  readonly job: Omit<Claim, 'signal'>
  readonly abort: AbortController
  readonly over: Promise<void>
}

/** Returns the job id and the retry count that identify an attempt, so that a job that another attempt has taken over is not changed. */
export function attemptOf({ id, attempt }: Slot['job']): { id: string; retryCount: number } {
  return { id, retryCount: attempt - 1 }
}

/** The slots of a worker. */
export type Slots = ReturnType<typeof makeSlots>

/**
 * Creates the slots of a worker. A job keeps its slot until `end` has stored how it ended; then `freed` is called.
 */
export function makeSlots(handler: Handler, end: (job: Slot['job'], outcome: Outcome) => Promise<void>, freed: () => void) {
  const running = new Map<string, Slot>()

  async function run(job: Slot['job'], abort: AbortController) {
    const { id } = job
    let outcome: Outcome
    try {
      outcome = await handler({ ...job, signal: abort.signal })
    } catch (error) {
      outcome = { retryInSeconds: retryAfterThrowSeconds, error }
    }
    if (running.get(id)?.abort === abort) await end(job, outcome)
    if (running.get(id)?.abort === abort) running.delete(id)
    freed()
  }

  /** Aborts a job and frees its slot without waiting for its handler, whose outcome is then ignored. */
  function release(id: string, reason: string) {
    running.get(id)?.abort.abort(new Error(reason))
    running.delete(id)
  }

  return {
    running,
    release,
    begin(job: Slot['job']) {
      const abort = new AbortController()
      const { promise: over, resolve } = Promise.withResolvers<void>()
      running.set(job.id, { job, abort, over })
      void run(job, abort).then(resolve)
    },
    /** Waits for the running jobs, then aborts them, then releases them. Returns the released jobs. */
    async drain(graceSeconds: number) {
      const ended = Promise.all([...running.values()].map(({ over }) => over))
      await waitAtMost(ended, graceSeconds * 1000)
      for (const { abort } of running.values()) abort.abort(new Error('work-queue: the worker is stopping.'))
      await waitAtMost(ended, 1000)
      const left = [...running.values()].map(({ job }) => job)
      running.clear()
      return left
    }
  }
}
