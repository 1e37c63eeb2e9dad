import type { FastifyReply } from 'fastify'
import type { BeginOutcome, IdempotencyStore } from './store.ts'

/** Where retries wait for the request that is still being carried out. */
export interface WaitingRoom {
  /**
   * Begins again whenever the key may have changed, and at intervals, until the outcome is no longer `busy`, the time is over or the
   * client is gone. The last outcome; `busy` at once when too many wait. Between two looks nothing of the store is held.
   */
  wait(key: string, milliseconds: number, reply: FastifyReply, begin: Begin): Promise<BeginOutcome | undefined>
}

type Begin = () => BeginOutcome | Promise<BeginOutcome>

const firstPauseMilliseconds = 50
const longestPauseMilliseconds = 1000
// A process that is lost tells nobody: about so often one of those that wait for a key looks.
const lookMilliseconds = 250

/** Makes a waiting room with so many places. */
export function waitingRoom(store: IdempotencyStore, maximumWaiters: number, maximumWaitersPerKey: number): WaitingRoom {
  const waiters = new Map<string, number>()
  let all = 0

  return {
    async wait(key, milliseconds, reply, begin) {
      const others = waiters.get(key) ?? 0
      if (all >= maximumWaiters || others >= maximumWaitersPerKey) return undefined
      waiters.set(key, others + 1)
      all += 1
      const gone = new AbortController()
      const leave = () => gone.abort()
      reply.raw.once('close', leave)
      try {
        return await ask(key, performance.now() + milliseconds, gone.signal, begin)
      } finally {
        reply.raw.off('close', leave)
        all -= 1
        if (waiters.get(key) === 1) waiters.delete(key)
        else waiters.set(key, (waiters.get(key) as number) - 1)
      }
    }
  }

  async function ask(key: string, until: number, gone: AbortSignal, begin: Begin) {
    let outcome: BeginOutcome | undefined
    for (let pause = firstPauseMilliseconds; ; pause = nextPause(key, pause)) {
      const left = until - performance.now()
      if (left <= 0 || gone.aborted) return outcome
      await change(key, Math.min(pause, left), gone)
      outcome = await begin()
      if (outcome.state !== 'busy') return outcome
    }
  }

  function nextPause(key: string, pause: number) {
    return Math.min(pause * 2, lookMilliseconds * (waiters.get(key) as number), longestPauseMilliseconds)
  }

  async function change(key: string, milliseconds: number, gone: AbortSignal) {
    const end = new AbortController()
    const over = () => end.abort()
    const timer = setTimeout(over, milliseconds)
    gone.addEventListener('abort', over)
    try {
      await (store.changed?.(key, end.signal) ?? new Promise<void>((resolve) => end.signal.addEventListener('abort', () => resolve())))
    } finally {
      clearTimeout(timer)
      gone.removeEventListener('abort', over)
      over()
    }
  }
}
