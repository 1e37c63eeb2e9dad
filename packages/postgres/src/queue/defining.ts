import { randomUUID } from 'node:crypto'
import { readQueueSettings, type WorkQueue } from '@concordat/work-queue'
import { withoutRights } from '../migrations/missing-schema.ts'
import type { Engine } from './engine.ts'
import type { Lines } from './lines.ts'

/** Creates the function that defines a queue in this process, and creates it where it does not exist. */
export function definition({ boss, start }: Engine, lines: Lines): WorkQueue['define'] {
  async function createIfMissing(name: string, policy: 'standard' | 'key_strict_fifo') {
    const existing = await boss.getQueue(name)
    if (existing === null) await boss.createQueue(name, { policy })
    // This also caches the queue, so that no lookup is needed inside a transaction.
    await boss.findJobs(name, { id: randomUUID() })
    return existing ?? boss.getQueue(name)
  }

  return async (name, given = {}) => {
    const settings = readQueueSettings(given)
    const { ordered } = settings
    await start()
    const policy = ordered ? 'key_strict_fifo' : 'standard'
    const created = await createIfMissing(name, policy).catch((error: unknown) => {
      throw withoutRights(error, `work-queue: the queue "${name}" cannot be defined`)
    })
    if (created?.policy !== policy) {
      throw new TypeError(
        `work-queue: the queue "${name}" was created ${ordered ? 'without' : 'with'} order, which cannot be changed. Use another name.`
      )
    }
    lines.set(name, { ...lines.get(name), settings })
  }
}
