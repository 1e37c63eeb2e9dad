import type { FastifyInstance } from 'fastify'

const everyMs = 60_000
const maxRows = 1000

/**
 * Deletes what a store keeps no longer, each minute while the service runs, also without requests. `sweep` deletes at most as many rows as its parameter
 * says, and returns how many; it is called again while these are all. `failure` is the line of the log when it fails, with the name of the plugin.
 */
export function sweepRegularly(app: FastifyInstance, failure: string, sweep: (maxRows: number) => number | Promise<number>): void {
  let timer: NodeJS.Timeout | undefined
  app.addHook('onReady', async () => {
    timer = setInterval(() => void sweepAll(), everyMs).unref()
  })
  app.addHook('onClose', async () => clearInterval(timer))

  async function sweepAll() {
    try {
      while ((await sweep(maxRows)) === maxRows);
    } catch (err) {
      app.log.warn({ err }, failure)
    }
  }
}
