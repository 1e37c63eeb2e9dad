import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import process from 'node:process'
import type { Gauges } from '@concordat/plugin-kit/observer'

const delayP50 = { name: 'nodejs.eventloop.delay.p50', unit: 's', description: 'Event loop 50th percentile delay.' }
const delayP99 = { name: 'nodejs.eventloop.delay.p99', unit: 's', description: 'Event loop 99th percentile delay.' }
const delayMax = { name: 'nodejs.eventloop.delay.max', unit: 's', description: 'Event loop maximum delay.' }
const utilization = { name: 'nodejs.eventloop.utilization', unit: '1', description: 'Event loop utilization.' }
const memoryUsage = { name: 'process.memory.usage', unit: 'By', description: 'The amount of physical memory in use.' }
const heapUsed = { name: 'nodejs.memory.heap.used', unit: 'By', description: 'The part of the heap that is in use.' }
const uptime = { name: 'process.uptime', unit: 's', description: 'The time the process has been running.' }

const resolutionMs = 10

/** Observes the process: the delay of its event loop between two reads, its memory and its age. `close` ends the measurement of the delay. */
export function processGauges(): Gauges & { readonly close: () => void } {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs })
  delay.enable()
  let before = performance.eventLoopUtilization()
  // What is measured includes the time between two measurements.
  const seconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - resolutionMs / 1000)

  return {
    metrics: [delayP50, delayP99, delayMax, utilization, memoryUsage, heapUsed, uptime],
    read() {
      const now = performance.eventLoopUtilization()
      const { utilization: part } = performance.eventLoopUtilization(now, before)
      before = now
      const delays = [delay.percentile(50), delay.percentile(99), delay.max] as const
      const isMeasured = delay.count > 0
      delay.reset()
      const { rss, heapUsed: used } = process.memoryUsage()
      return [
        ...(isMeasured ? [delayP50, delayP99, delayMax].map((metric, index) => ({ metric, value: seconds(delays[index] as number) })) : []),
        { metric: utilization, value: part },
        { metric: memoryUsage, value: rss },
        { metric: heapUsed, value: used },
        { metric: uptime, value: process.uptime() }
      ]
    },
    close: () => void delay.disable()
  }
}
