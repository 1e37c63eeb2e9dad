import type { FastifyInstance } from 'fastify'
import type { Settings } from './options.ts'
import { callStore } from './store-call.ts'

const sweptAtOnce = 1000
const sweepMs = 60_000

/** Checks the store at boot, deletes expired records while the service runs, and closes the store with the service. */
export function tendStore(app: FastifyInstance, { store, storeTimeoutMs }: Settings): void {
  let timer: NodeJS.Timeout | undefined

  app.addHook('onReady', async () => {
    if (store.sweep) timer = setInterval(() => void sweep(), sweepMs).unref()
    await check()
  })
  app.addHook('onClose', async () => {
    clearInterval(timer)
    await store.close?.()
  })

  // A store that is down does not stop the service from starting: requests with a key get 503 until the store is available.
  async function check() {
    try {
      const problems = await callStore(async () => (await store.check?.()) ?? [], storeTimeoutMs)
      for (const problem of problems) app.log.warn(`idempotency: ${problem}`)
    } catch (err) {
      app.log.warn({ err }, 'idempotency: the store is not available yet')
    }
  }

  async function sweep() {
    try {
      while ((await callStore(() => store.sweep?.(sweptAtOnce), storeTimeoutMs)) === sweptAtOnce);
    } catch (err) {
      app.log.warn({ err }, 'idempotency: expired records were not deleted')
    }
  }
}
