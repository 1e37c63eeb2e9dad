import type { FastifyInstance } from 'fastify'
import { inTime } from './in-time.ts'
import type { Settings } from './options.ts'

const sweptAtOnce = 1000

/** Checks the store at boot, deletes expired records while the service runs, and closes the store with the service. */
export function tendStore(app: FastifyInstance, { store, sweepMilliseconds, storeTimeoutMilliseconds }: Settings): void {
  let timer: NodeJS.Timeout | undefined

  app.addHook('onReady', async () => {
    if (store.sweep) timer = setInterval(() => void sweep(), sweepMilliseconds).unref()
    await check()
  })
  app.addHook('onClose', async () => {
    clearInterval(timer)
    await store.close?.()
  })

  // A store that is down does not stop the service from starting: requests with a key get 503 until the store is available.
  async function check() {
    try {
      const problems = await inTime(async () => (await store.check?.()) ?? [], storeTimeoutMilliseconds)
      for (const problem of problems) app.log.warn(`idempotency: ${problem}`)
    } catch (err) {
      app.log.warn({ err }, 'idempotency: the store is not available yet')
    }
  }

  async function sweep() {
    try {
      while ((await store.sweep?.(sweptAtOnce)) === sweptAtOnce);
    } catch (err) {
      app.log.warn({ err }, 'idempotency: expired records were not deleted')
    }
  }
}
