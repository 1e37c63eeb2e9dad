import type { Handler, Outcome } from '@concordat/work-queue'
import type { QueueParts } from './queue-database.ts'
import { outcomeWriter } from './queue-outcomes.ts'
import { attemptOf, makeSlots, type Slot } from './queue-slots.ts'
import { takeJobs } from './queue-taking.ts'

// A job that another process cancels is noticed at the next renewal.
const renewMs = 750
const timersAtMost = 10_000

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
  const { boss, name, leaseSeconds, onEnd, clock, onError } = parts
  const write = outcomeWriter(parts)
  const timers = new Map<number, () => void>()
  const state = { isStopping: false, hasNews: false, isPolling: false, upkeep: 0 }
  let wake: (() => void) | undefined
  let held: ReadonlySet<string> = new Set()
  let cancelRenewal: (() => void) | undefined

  const slots = makeSlots(handler, end, kick)
  const cancelReclaim = every(leaseSeconds * 400, () => boss.supervise(name))
  const stopped = pump()

  async function pump() {
    while (!state.isStopping) {
      state.hasNews = false
      state.isPolling = true
      const found = await poll().catch(onError)
      state.isPolling = false
      if (!found && !state.hasNews) await news()
    }
    state.hasNews = false
  }

  async function poll() {
    const batchSize = concurrency - slots.running.size
    if (batchSize <= 0) return 0
    const jobs = await takeJobs(parts, batchSize, perKey)
    for (const job of jobs) slots.begin(job)
    if (jobs.length > 0) cancelRenewal ??= every(renewMs, renew)
    return jobs.length
  }

  async function news() {
    const { promise, resolve } = Promise.withResolvers<void>()
    wake = resolve
    const forget = clock.after(pollSeconds * 1000, resolve)
    await promise
    forget()
  }

  /** Polls the queue now, because there may be new jobs. */
  function kick() {
    state.hasNews = true
    wake?.()
  }

  function kickIn(seconds: number) {
    if (seconds <= 0) return kick()
    const due = Math.ceil(clock.now() / 100 + seconds * 10) * 100
    // With more timers than this, the next poll finds the jobs.
    if (timers.has(due) || timers.size >= timersAtMost) return
    const forget = clock.after(due - clock.now(), () => {
      timers.delete(due)
      kick()
    })
    timers.set(due, forget)
  }

  async function end(job: Slot['job'], outcome: Outcome) {
    const retryInSeconds = await write(job, outcome)
    onEnd()
    if (retryInSeconds !== undefined) kickIn(retryInSeconds)
  }

  /** Renews the leases of the jobs that have run since the last renewal, and aborts those that were cancelled or taken over. */
  async function renew() {
    const running = [...slots.running.values()].map(({ job }) => job)
    const long = running.filter(({ id }) => held.has(id))
    held = new Set(running.map(({ id }) => id))
    if (running.length === 0) {
      cancelRenewal?.()
      cancelRenewal = undefined
    }
    if (long.length === 0) return
    const { settled } = (await boss.touch(name, long.map(attemptOf))) as { readonly settled: readonly string[] }
    for (const { id } of long) if (!settled.includes(id)) slots.release(id, 'work-queue: the job was cancelled, or its lease was lost.')
  }

  /** Runs the function repeatedly, one run at a time. Returns the function that stops it. */
  function every(milliseconds: number, run: () => Promise<unknown>) {
    let isOver = false
    let forget = clock.after(milliseconds, again)
    async function again() {
      state.upkeep += 1
      await run().catch(onError)
      state.upkeep -= 1
      if (!isOver) forget = clock.after(milliseconds, again)
    }
    return () => {
      isOver = true
      forget()
    }
  }

  return {
    kick,
    kickIn,
    /** Aborts a job that was cancelled and frees its slot. */
    release: (id: string) => slots.release(id, 'work-queue: the job was cancelled.'),
    isBusy: () => (state.hasNews && !state.isStopping) || state.isPolling || state.upkeep > 0 || slots.running.size > 0,
    async stop(graceSeconds: number) {
      state.isStopping = true
      kick()
      await stopped
      for (const job of await slots.drain(graceSeconds)) await write(job, { retryInSeconds: 0, error: 'handed back' })
      cancelReclaim()
      cancelRenewal?.()
      for (const forget of timers.values()) forget()
    }
  }
}
