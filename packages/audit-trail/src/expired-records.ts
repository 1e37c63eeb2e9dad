import type { FastifyInstance } from 'fastify'
import type { AuditTrailStore } from './store.ts'

const sweptAtOnce = 1000
const sweepMs = 60_000

/** Deletes the records beyond the retention each minute while the service runs, also when there are no requests. */
export function sweepExpiredRecords(app: FastifyInstance, store: AuditTrailStore, now: () => number): void {
  let timer: NodeJS.Timeout | undefined
  app.addHook('onReady', async () => {
    if (store.sweep) timer = setInterval(() => void sweep(), sweepMs).unref()
  })
  app.addHook('onClose', async () => clearInterval(timer))

  async function sweep() {
    try {
      while ((await store.sweep?.(now(), sweptAtOnce)) === sweptAtOnce);
    } catch (err) {
      app.log.warn({ err }, 'audit-trail: records beyond the retention were not deleted')
    }
  }
}
