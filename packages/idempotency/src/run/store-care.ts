import { sweepRegularly } from '@concordat/plugin-kit/sweep'
import type { FastifyInstance } from 'fastify'
import type { Settings } from '../options.ts'
import { callStore } from './store-call.ts'

/** Checks the store at boot, deletes expired records while the service runs, and closes the store with the service. */
export function tendStore(app: FastifyInstance, { store, storeTimeoutMs }: Settings): void {
  const sweep = store.sweep?.bind(store)
  if (sweep)
    sweepRegularly(app, 'idempotency: expired records were not deleted', (maximum) => callStore(() => sweep(maximum), storeTimeoutMs))
  app.addHook('onReady', check)
  app.addHook('onClose', async () => store.close?.())

  // A store that is down does not stop the service from starting: requests with a key get 503 until the store is available.
  async function check() {
    try {
      const problems = await callStore(async () => (await store.check?.()) ?? [], storeTimeoutMs)
      for (const problem of problems) app.log.warn(`idempotency: ${problem}`)
    } catch (err) {
      app.log.warn({ err }, 'idempotency: the store is not available yet')
    }
  }
}
