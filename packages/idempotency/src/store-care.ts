import type { FastifyInstance } from 'fastify'
import { inTime } from './in-time.ts'
import type { Settings } from './options.ts'

const sweptAtOnce = 1000

/** Asks the store at boot what about it breaks a promise, deletes what is over while the service runs, and closes it with the service. */
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

  // A store that is down does not keep the service from starting: it answers 503 until it is back.
  async function check() {
    try {
      const problems = await inTime(async () => (await store.check?.()) ?? [], storeTimeoutMilliseconds)
      for (const problem of problems) app.log.warn(`idempotency: ${problem}`)
    } catch (err) {
      app.log.warn({ err }, 'idempotency: the store does not answer yet')
    }
  }

  async function sweep() {
    try {
      while ((await store.sweep?.(sweptAtOnce)) === sweptAtOnce);
    } catch (err) {
      app.log.warn({ err }, 'idempotency: records whose time is over were not deleted')
    }
  }
}
