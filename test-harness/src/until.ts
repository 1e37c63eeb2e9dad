import { setTimeout as delay } from 'node:timers/promises'

/** Waits until the condition holds, and checks it at this interval. Only the time limit of the test ends it otherwise. */
export async function until(condition: () => boolean | Promise<boolean>, everyMilliseconds = 5): Promise<void> {
  while (!(await condition())) await delay(everyMilliseconds)
}
