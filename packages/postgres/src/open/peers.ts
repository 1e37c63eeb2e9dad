import type { WorkQueue } from '@concordat/work-queue'
import type { PostgresWorkQueueOptions, QueuePlace } from '../queue-options.ts'

/** Imports optional peers for a function of this package. Rejects with an error that lists the packages when they are not installed. */
export async function importPeers<Module>(caller: string, packages: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load()
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new Error(`postgres: ${caller} requires a package that is not installed. Run: npm install ${packages}`, { cause })
  }
}

/** Opens a queue, whose packages are optional. */
export async function openQueueIn(place: QueuePlace, options: PostgresWorkQueueOptions | undefined): Promise<WorkQueue> {
  const queues = await importPeers('openQueue', 'pg-boss', () => import('../work-queue.ts'))
  return queues.postgresWorkQueue(place, options)
}
