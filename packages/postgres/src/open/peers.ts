import { requirePeers } from '@concordat/plugin-kit/options'
import type { WorkQueue } from '@concordat/work-queue'
import type { PostgresWorkQueueOptions, QueuePlace } from '../queue/options.ts'

/** Opens a queue, whose packages are optional. */
export async function openQueueIn(place: QueuePlace, options: PostgresWorkQueueOptions | undefined): Promise<WorkQueue> {
  requirePeers('postgres: openQueue', ['pg-boss@12.35'], import.meta)
  const queues = await import('../queue/work-queue.ts')
  return queues.postgresWorkQueue(place, options)
}
