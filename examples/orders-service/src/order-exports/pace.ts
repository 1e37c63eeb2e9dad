import { setTimeout as delay } from 'node:timers/promises'

const longestMilliseconds = 100

/**
 * Makes a function that waits as long as has passed since the last time: who calls it after each step of a long work takes half of the
 * time, and the requests of others have the rest. Also on PGlite, which answers without a turn of the event loop.
 */
export function pacer(): () => Promise<void> {
  let since = performance.now()
  return async () => {
    await delay(Math.min(performance.now() - since, longestMilliseconds))
    since = performance.now()
  }
}
