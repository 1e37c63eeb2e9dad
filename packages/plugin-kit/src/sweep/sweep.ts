import type { FastifyInstance } from 'fastify'
import { describeOptions, type OptionsOf } from '../options/describe-options.ts'
import { integer, required, value } from '../options/option-kinds.ts'

/** The description of {@link SweepOptions}. */
const sweepOptions = describeOptions('plugin-kit', {
  /** The line of the log when a sweep fails, with the name of the plugin. The next interval tries again. */
  failure: required(value<string>()),
  /** The time between two sweeps. */
  everySeconds: integer({ default: 60, min: 1 }),
  /** How many rows one call may delete. A sweep calls again until fewer are left. */
  maxRows: integer({ default: 1000, min: 1 })
})

/** Options of {@link sweepRegularly}. */
export interface SweepOptions extends OptionsOf<typeof sweepOptions> {}

/**
 * Deletes what a store keeps no longer, at an interval while the service runs, also without requests. `sweep` returns how many rows it has deleted.
 * Throws a `TypeError` for an invalid option.
 */
export function sweepRegularly(app: FastifyInstance, sweep: (maxRows: number) => number | Promise<number>, options: SweepOptions): void {
  const { failure, everySeconds, maxRows } = sweepOptions.read(options)
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
