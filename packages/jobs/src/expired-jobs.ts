import type { FastifyInstance } from 'fastify'
import { goneMs, type Settings } from './options.ts'

const sweptAtOnce = 1000
const sweepMs = 60_000

/** Deletes the jobs whose URLs no longer respond with 410, every minute while the service runs, also when no client starts a job. */
export function sweepExpiredJobs(app: FastifyInstance, { store, now }: Settings): void {
  let timer: NodeJS.Timeout | undefined
  app.addHook('onReady', async () => {
    timer = setInterval(() => void sweep(), sweepMs).unref()
  })
  app.addHook('onClose', async () => clearInterval(timer))

  async function sweep() {
    try {
      while ((await store.sweep(now() - goneMs, sweptAtOnce)) === sweptAtOnce);
    } catch (err) {
      app.log.warn({ err }, 'jobs: expired jobs were not deleted')
    }
  }
}
