import { setImmediate } from 'node:timers/promises'

/** Where a queue takes the time from, in milliseconds since 1970. */
export interface Clock {
  now(): number
  /** Runs once after so many milliseconds. The answer takes that back. */
  after(milliseconds: number, run: () => void): () => void
  /** On a clock that a test moves: who has a time of its own moves it by as much, and says whether something still goes on. */
  follow?(follower: { moveBy(milliseconds: number): Promise<void>; isBusy(): boolean }): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(milliseconds, run) {
    // A longer one would be over at once.
    const timer = setTimeout(run, Math.min(milliseconds, 2 ** 31 - 1))
    return () => clearTimeout(timer)
  }
}

type Follower = Parameters<NonNullable<Clock['follow']>>[0]

/** A clock that stands still until a test moves it. */
export interface TestClock extends Clock {
  follow(follower: Follower): () => void
  /**
   * Moves on from one timer to the next, and waits at each until everything that it began is over, handlers included: a schedule of days
   * takes as long as its work. For a handler that itself waits for this clock, it waits for ever; use `jump` there.
   */
  advance(milliseconds: number): Promise<void>
  /** Moves on at once and then runs what is due, waiting for nothing. */
  jump(milliseconds: number): Promise<void>
}

interface Timer {
  readonly due: number
  readonly run: () => void
}

/** Makes the clock on which the contract is tested, and whatever waits for days, beginning at a time in milliseconds since 1970. */
export function testClock(start: number = Date.now()): TestClock {
  let now = start
  const timers = new Set<Timer>()
  const followers = new Set<Follower>()

  async function move(to: number) {
    const milliseconds = to - now
    now = to
    if (milliseconds > 0) for (const follower of followers) await follower.moveBy(milliseconds)
  }

  // Twice, since what has just ended may have begun something else.
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
