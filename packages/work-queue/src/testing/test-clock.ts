import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../options.ts'

type Follower = Parameters<NonNullable<Clock['follow']>>[0]

/** Clock that changes only when a test moves it. */
export interface TestClock extends Clock {
  follow(follower: Follower): () => void
  /**
   * Advances from one timer to the next and waits after each timer until all work that it started, including handlers, has ended, so that a
   * schedule of days takes only as long as its work. It never resolves if a handler waits for this clock; use `jump` then.
   */
  advance(milliseconds: number): Promise<void>
  /** Moves to the end immediately, then runs the timers that are due, without waiting for what they start. */
  jump(milliseconds: number): Promise<void>
}

interface Timer {
  readonly due: number
  readonly run: () => void
}

/** Creates a clock for contract tests and for tests of long waits. It starts at a time in milliseconds since the Unix epoch. */
export function testClock(start: number = Date.now()): TestClock {
  let now = start
  const timers = new Set<Timer>()
  const followers = new Set<Follower>()

  async function move(to: number) {
    const milliseconds = to - now
    now = to
    if (milliseconds > 0) for (const follower of followers) await follower.moveBy(milliseconds)
  }

  // Twice, because work that has just ended may have started other work.
  async function quiet() {
    for (let calm = 0; calm < 2; ) {
      await setImmediate()
      calm = [...followers].some((follower) => follower.isBusy()) ? 0 : calm + 1
    }
  }

  function nextUntil(end: number) {
    const due = [...timers].filter((timer) => timer.due <= end)
    return due.reduce<Timer | undefined>((first, timer) => (first === undefined || timer.due < first.due ? timer : first), undefined)
  }

  return {
    now: () => now,
    after(milliseconds, run) {
      const timer = { due: now + Math.max(0, milliseconds), run }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    follow(follower) {
      followers.add(follower)
      return () => void followers.delete(follower)
    },
    async advance(milliseconds) {
      const end = now + milliseconds
      await quiet()
      for (let timer = nextUntil(end); timer !== undefined; timer = nextUntil(end)) {
        timers.delete(timer)
        await move(Math.max(now, timer.due))
        timer.run()
        await quiet()
      }
      await move(end)
    },
    async jump(milliseconds) {
      await move(now + milliseconds)
      for (let timer = nextUntil(now); timer !== undefined; timer = nextUntil(now)) {
        timers.delete(timer)
        timer.run()
      }
    }
  }
}
