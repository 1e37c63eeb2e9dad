import { setTimeout as delay, setImmediate } from 'node:timers/promises'

/** Waits until the condition holds, and checks it at this interval. Only the time limit of the test ends it otherwise. */
export async function until(condition: () => boolean | Promise<boolean>, everyMilliseconds = 5): Promise<void> {
  while (!(await condition())) await delay(everyMilliseconds)
}

/** Lets everything run that waits for no timer and no input, turn by turn of the event loop. After it, what has not begun does not begin. */
export async function turns(count = 20): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await setImmediate()
}
