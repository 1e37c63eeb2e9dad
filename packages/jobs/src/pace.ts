import { setTimeout as delay } from 'node:timers/promises'

const maxPauseMs = 100

/**
 * Returns a function that waits for the time that has passed since its last call. Long work that calls it after each step uses half of the
 * time and leaves the rest to other requests. This also works on PGlite, which returns results without a turn of the event loop.
 */
export function pacer(): () => Promise<void> {
  let since = performance.now()
  return async () => {
    await delay(Math.min(performance.now() - since, maxPauseMs))
    since = performance.now()
  }
}
