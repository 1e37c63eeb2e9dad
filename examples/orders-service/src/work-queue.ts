import type { WorkQueue } from '@concordat/work-queue'
import type { FastifyInstance } from 'fastify'
import type { Database } from './database/database.ts'

/**
 * Opens the queue for all work that outlives its request. Call it after the hook that closes the database is added and before the plugins
 * that use the queue are registered: a service that stops accepts no more requests, returns its work to the queue, closes the queue, then
 * the database.
 */
export function openWorkQueue(app: FastifyInstance, database: Database): WorkQueue {
  const queue = database.openQueue({ onError: (error) => app.log.error({ err: error }, 'queue') })
  app.addHook('onClose', () => queue.close(0))
  return queue
}
