import type { OpenDatabase } from '@concordat/postgres/open'
import type { WorkQueue } from '@concordat/work-queue'
import type { FastifyInstance } from 'fastify'

/**
 * Opens the queue for all work that outlives its request. Call it after the hook that closes the database is added and before the plugins
 * that use the queue are registered: a service that stops accepts no more requests, returns its work to the queue, closes the queue, then
 * the database.
 */
export async function openWorkQueue(app: FastifyInstance, database: OpenDatabase, onError: (error: unknown) => void): Promise<WorkQueue> {
  const queue = await database.openQueue({ onError })
  app.addHook('onClose', () => queue.close(0))
  return queue
}
