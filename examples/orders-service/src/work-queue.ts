import type { WorkQueue } from '@concordat/work-queue'
import type { FastifyInstance } from 'fastify'
import type { Database } from './database/database.ts'

/**
 * Opens the queue of everything that outlives its request. To be called behind the hook that closes the database and before what works on
 * the queue is registered: a service that stops takes no more requests, hands its work back, then closes the queue, then the database.
 */
export function openWorkQueue(app: FastifyInstance, database: Database): WorkQueue {
  const queue = database.openQueue({ onError: (error) => app.log.error({ err: error }, 'queue') })
  app.addHook('onClose', () => queue.close(0))
  return queue
}
