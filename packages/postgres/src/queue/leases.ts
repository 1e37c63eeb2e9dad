import type { QueueParts } from './engine.ts'
import { attemptOf, type Slots } from './slots.ts'

// A job that another process cancels is noticed at the next renewal.
const renewMs = 750

/** Renews the leases of the jobs that run here, and ends the lost attempts of all processes. */
export function leaseKeeper({ boss, name, leaseSeconds, clock, onError }: QueueParts, slots: Slots) {
  let running = 0
  let held: ReadonlySet<string> = new Set()
  let cancelRenewal: (() => void) | undefined
  const cancelReclaim = every(leaseSeconds * 400, () => boss.supervise(name))

  /** Renews the leases of the jobs that have run since the last renewal, and aborts those that were cancelled or taken over. */
  async function renew() {
    const jobs = [...slots.running.values()].map(({ job }) => job)
    const long = jobs.filter(({ id }) => held.has(id))
    held = new Set(jobs.map(({ id }) => id))
    if (jobs.length === 0) {
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
      running += 1
      await run().catch(onError)
      running -= 1
      if (!isOver) forget = clock.after(milliseconds, again)
    }
    return () => {
      isOver = true
      forget()
    }
  }

  return {
    /** Called when a job has begun. */
    begun() {
      cancelRenewal ??= every(renewMs, renew)
    },
    isRunning: () => running > 0,
    stop() {
      cancelReclaim()
      cancelRenewal?.()
    }
  }
}
