import type { Clock } from '@concordat/work-queue'

const timersAtMost = 10_000

/** Creates what a worker waits for: its next poll, the time at which a job is ready again, or a notification. */
export function wakeups(clock: Clock, pollSeconds: number) {
  const timers = new Map<number, () => void>()
  let hasNews = false
  let wake: (() => void) | undefined

  function kick() {
    hasNews = true
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

  return {
    /** Ends the wait now, because there may be new jobs. */
    kick,
    /** Ends the wait after the given time. */
    kickIn,
    hasNews: () => hasNews,
    forgetNews() {
      hasNews = false
    },
    async wait() {
      const { promise, resolve } = Promise.withResolvers<void>()
      wake = resolve
      const forget = clock.after(pollSeconds * 1000, resolve)
      await promise
      forget()
    },
    close() {
      for (const forget of timers.values()) forget()
    }
  }
}
