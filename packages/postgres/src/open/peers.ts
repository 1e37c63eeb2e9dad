import { importPeers } from '@concordat/plugin-options'
import type { WorkQueue } from '@concordat/work-queue'
import type { PostgresWorkQueueOptions, QueuePlace } from '../queue-options.ts'

/** Opens a queue, whose packages are optional. */
export async function openQueueIn(place: QueuePlace, options: PostgresWorkQueueOptions | undefined): Promise<WorkQueue> {
  const queues = await importPeers('postgres: openQueue', 'pg-boss', () => import('../work-queue.ts'))
  return queues.postgresWorkQueue(place, options)
}
