import type { FastifyInstance } from 'fastify'

/** Options of {@link sweepRegularly}. */
export interface SweepOptions {
  /** The line of the log when a sweep fails, with the name of the plugin. The next interval tries again. */
  readonly failure: string
  /** The time between two sweeps. @default 60 */
  readonly everySeconds?: number | undefined
  /** How many rows one call may delete. A sweep calls again until fewer are left. @default 1000 */
  readonly maxRows?: number | undefined
}

/** Deletes what a store keeps no longer, at an interval while the service runs, also without requests. `sweep` returns how many rows it has deleted. */
export function sweepRegularly(
  app: FastifyInstance,
  sweep: (maxRows: number) => number | Promise<number>,
  { failure, everySeconds = 60, maxRows = 1000 }: SweepOptions
): void {
  let timer: NodeJS.Timeout | undefined
  app.addHook('onReady', async () => {
    timer = setInterval(() => void sweepAll(), everySeconds * 1000).unref()
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
