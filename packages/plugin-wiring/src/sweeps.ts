import type { FastifyInstance } from 'fastify'

const sweptAtOnce = 1000
const sweepMs = 60_000

/**
 * Calls `sweep` each minute while the service runs, also while there are no requests, and again immediately after a full batch. `sweep` deletes at most
 * `maximum` expired rows and returns their number. `failure` is the message of the log line when it rejects.
 */
export function sweepEachMinute(app: FastifyInstance, failure: string, sweep: (maximum: number) => Promise<number | undefined>): void {
  let timer: NodeJS.Timeout | undefined
  let isSweeping = false
  let isClosed = false

  app.addHook('onReady', async () => {
    timer = setInterval(() => void sweepAll(), sweepMs).unref()
  })
  app.addHook('onClose', async () => {
    isClosed = true
    clearInterval(timer)
  })

  async function sweepAll() {
    if (isSweeping) return
    isSweeping = true
    try {
      while ((await sweep(sweptAtOnce)) === sweptAtOnce && !isClosed);
    } catch (err) {
      if (!isClosed) app.log.warn({ err }, failure)
    } finally {
      isSweeping = false
    }
  }
}
