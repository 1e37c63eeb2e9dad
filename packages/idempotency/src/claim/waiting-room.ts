import type { FastifyReply } from 'fastify'
import type { BeginOutcome, IdempotencyStore } from '../stored/store.ts'

/**
 * Lets a retry wait for the request that is still in progress. Calls `begin` whenever the key may have changed, and at intervals, until the outcome is no
 * longer `busy`, the wait times out or the client disconnects. Resolves to the last outcome; when too many retries wait, immediately to none.
 */
export type Wait = (key: string, milliseconds: number, reply: FastifyReply, begin: Begin) => Promise<BeginOutcome | undefined>

type Begin = () => BeginOutcome | Promise<BeginOutcome>

const firstPauseMs = 50
const longestPauseMs = 1000
// A lost process sends no notification: about once in this interval, one of the retries that wait for a key checks it.
const pollMs = 250
const maxWaiters = 1000
const maxWaitersPerKey = 100

/** Creates the function that waits, with limits in total and per key. */
export function waitingRoom(store: IdempotencyStore): Wait {
  const waiters = new Map<string, number>()
  let all = 0

  return async (key, milliseconds, reply, begin) => {
    const others = waiters.get(key) ?? 0
    if (all >= maxWaiters || others >= maxWaitersPerKey) return undefined
    waiters.set(key, others + 1)
    all += 1
    const gone = new AbortController()
    const leave = () => gone.abort()
    reply.raw.once('close', leave)
    try {
      return await poll(key, performance.now() + milliseconds, gone.signal, begin)
    } finally {
      reply.raw.off('close', leave)
      all -= 1
      if (waiters.get(key) === 1) waiters.delete(key)
      else waiters.set(key, (waiters.get(key) as number) - 1)
    }
  }

  async function poll(key: string, until: number, gone: AbortSignal, begin: Begin) {
    let outcome: BeginOutcome | undefined
    for (let pause = firstPauseMs; ; pause = nextPause(key, pause)) {
      const left = until - performance.now()
      if (left <= 0 || gone.aborted) return outcome
      await change(key, Math.min(pause, left), gone)
      outcome = await begin()
      if (outcome.state !== 'busy') return outcome
    }
  }

  function nextPause(key: string, pause: number) {
    return Math.min(pause * 2, pollMs * (waiters.get(key) as number), longestPauseMs)
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
