import type { FastifyInstance } from 'fastify'
import type { AuditTrailStore } from './store.ts'

const sweptAtOnce = 1000
const minuteMs = 60_000

/** Runs work each minute while the service runs, also when there are no requests. */
export function eachMinute(app: FastifyInstance, work: () => Promise<void>): void {
  let timer: NodeJS.Timeout | undefined
  app.addHook('onReady', async () => {
    timer = setInterval(() => void work(), minuteMs).unref()
  })
  app.addHook('onClose', async () => clearInterval(timer))
}

/** Deletes the records beyond the retention. Never rejects. */
export async function deleteExpiredRecords(app: FastifyInstance, store: AuditTrailStore, now: () => number): Promise<void> {
  try {
    while ((await store.sweep?.(now(), sweptAtOnce)) === sweptAtOnce);
  } catch (err) {
    app.log.warn({ err }, 'audit-trail: records beyond the retention were not deleted')
  }
}
