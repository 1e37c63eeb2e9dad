import { withDeadline } from '@concordat/plugin-kit/deadline'
import type { Gauges } from '@concordat/plugin-kit/observer'
import { outageLog } from '@concordat/plugin-kit/outage-log'
import type { FastifyBaseLogger } from 'fastify'
import type { Instruments } from './meters.ts'

// A scrape waits ten seconds by default.
const readMs = 3000
const onTimeout = () => new Error(`telemetry: no value within ${readMs / 1000} s.`)

/** Reads gauges whenever metrics are collected. Those that cannot be read are left out: an operator needs the others most when the database is down. */
export function readGauges(instruments: Instruments, { metrics, read }: Gauges, log: FastifyBaseLogger): void {
  const report = outageLog(log)
  instruments.gauges(metrics, async (observe) => {
    try {
      const readings = await withDeadline((async () => read())(), { ms: readMs, onTimeout })
      for (const { metric, value, attributes } of readings) observe(metric, value, attributes)
    } catch (error) {
      report(error, `telemetry: ${metrics[0]?.name} cannot be read`)
    }
  })
}
