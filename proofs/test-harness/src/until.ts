import { setTimeout as delay, setImmediate } from 'node:timers/promises'

/** Waits until the condition is true, and checks it at this interval. Otherwise only the timeout of the test ends the wait. */
export async function until(condition: () => boolean | Promise<boolean>, everyMs = 5): Promise<void> {
  while (!(await condition())) await delay(everyMs)
}

/**
 * Runs turns of the event loop, so that all work that does not wait for a timer or input runs. Work that has not started after it does not
 * start.
 */
export async function turns(count = 20): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await setImmediate()
}
