import type { Handler, Outcome } from '@concordat/work-queue'
import type { QueueParts } from './engine.ts'
import { leaseKeeper } from './leases.ts'
import { outcomeWriter } from './outcomes.ts'
import { makeSlots, type Slot } from './slots.ts'
import { jobTaker } from './taking.ts'
import { wakeups } from './wakeups.ts'

interface WorkSettings {
  readonly concurrency: number
  readonly perKey?: number | undefined
  readonly pollSeconds: number
}

/** Keeps the slots of one worker filled. */
export type Pump = ReturnType<typeof startPump>

/**
 * Starts to process jobs. The workers of pg-boss take one job for each poll, or complete no job until its whole batch is done. Here each
 * slot is filled as soon as it is free.
 */
export function startPump(parts: QueueParts, handler: Handler, { concurrency, perKey, pollSeconds }: WorkSettings) {
  const { onEnd, clock, onError } = parts
  const write = outcomeWriter(parts)
  const take = jobTaker(parts)
  const news = wakeups(clock, pollSeconds)
  const slots = makeSlots(handler, end, news.kick)
  const leases = leaseKeeper(parts, slots)
  const state = { isStopping: false, isPolling: false }
  const stopped = pump()

  async function pump() {
    while (!state.isStopping) {
      news.forgetNews()
      state.isPolling = true
      const mayHaveMore = await poll().catch(onError)
      state.isPolling = false
      if (!mayHaveMore && !news.hasNews()) await news.wait()
    }
    news.forgetNews()
  }

  async function poll() {
    const free = concurrency - slots.running.size
    if (free <= 0) return false
    const { jobs, mayHaveMore } = await take({ free, concurrency, perKey })
    for (const job of jobs) slots.begin(job)
    if (jobs.length > 0) leases.begun()
    return mayHaveMore
  }

  async function end(job: Slot['job'], outcome: Outcome) {
    const retryInSeconds = await write(job, outcome)
    onEnd()
    if (retryInSeconds !== undefined) news.kickIn(retryInSeconds)
  }

  return {
    /** Polls the queue now, because there may be new jobs. */
    kick: news.kick,
    kickIn: news.kickIn,
    /** Aborts a job that was cancelled and frees its slot. */
    release: (id: string) => slots.release(id, 'work-queue: the job was cancelled.'),
    hasFreeSlot: () => slots.running.size < concurrency,
    isBusy: () => (news.hasNews() && !state.isStopping) || state.isPolling || leases.isRunning() || slots.running.size > 0,
    async stop(graceSeconds: number) {
      state.isStopping = true
      news.kick()
      await stopped
      for (const job of await slots.drain(graceSeconds)) await write(job, { retryInSeconds: 0, error: 'handed back' })
      leases.stop()
      news.close()
    }
  }
}
