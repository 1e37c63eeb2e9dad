import type { FastifyInstance } from 'fastify'
import type { FileStore } from './store.ts'

const hourMs = 3_600_000
// Longer than any request, and than a process that keeps what it staged waits for its database.
const ageMs = 24 * hourMs
const sweptAtOnce = 100

/** Deletes every hour what was staged a day ago by requests that have no end, because their process was killed. */
export function sweepHourly(app: FastifyInstance, store: FileStore, now: () => number): void {
  let timer: NodeJS.Timeout | undefined
  app.addHook('onReady', async () => {
    timer = setInterval(() => void sweep(), hourMs).unref()
  })
  app.addHook('onClose', async () => clearInterval(timer))

  async function sweep() {
    try {
      while ((await store.sweep(now() - ageMs, sweptAtOnce)) === sweptAtOnce);
    } catch (err) {
      app.log.warn({ err }, 'files: staged objects of requests without an end were not deleted')
    }
  }
}
