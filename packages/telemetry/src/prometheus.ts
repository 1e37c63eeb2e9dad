import { setImmediate } from 'node:timers/promises'
import { requirePeers } from '@concordat/plugin-kit/options'
import type * as Api from '@opentelemetry/api'
import type { PrometheusSerializer } from '@opentelemetry/exporter-prometheus'

type ResourceMetrics = Parameters<PrometheusSerializer['serialize']>[0]
type MetricData = ResourceMetrics['scopeMetrics'][number]['metrics'][number]

// A histogram has 17 lines, so they take about 3 ms.
const maxPointsPerTurn = 25

/** Metrics that are collected in this process. */
export interface Collector {
  readonly provider: Api.MeterProvider
  /** Returns all metrics in the text format of Prometheus, in parts. Calls at the same time share one collection. */
  readonly collect: () => Promise<readonly Buffer[]>
  readonly close: () => Promise<void>
}

/** Creates the SDK of OpenTelemetry with the exporter for Prometheus, without the server that it has. */
export async function openCollector({ metrics, createNoopMeter }: typeof Api): Promise<Collector> {
  // Versions 2 and 3 of the SDK, and all of the exporter, work.
  requirePeers('telemetry: options.prometheus', ['@opentelemetry/sdk-metrics', '@opentelemetry/exporter-prometheus'], import.meta)
  const { MeterProvider } = await import('@opentelemetry/sdk-metrics')
  const { PrometheusExporter, PrometheusSerializer } = await import('@opentelemetry/exporter-prometheus')
  const exporter = new PrometheusExporter({ preventServerStart: true })
  const provider = new MeterProvider({ readers: [exporter] })
  const serializer = new PrometheusSerializer('', false, undefined, true, true)
  // Also for the counters of the service itself, unless an SDK was started before.
  const isGlobal = metrics.getMeter('') === createNoopMeter() && metrics.setGlobalMeterProvider(provider)
  let collecting: Promise<readonly Buffer[]> | undefined

  async function collectNow() {
    const { resourceMetrics, errors } = await exporter.collect()
    if (errors.length > 0) throw new AggregateError(errors, 'telemetry: some metrics could not be collected')
    return serializeInTurns(serializer, resourceMetrics)
  }

  return {
    provider,
    collect: () =>
      (collecting ??= collectNow().finally(() => {
        collecting = undefined
      })),
    async close() {
      if (isGlobal) metrics.disable()
      await provider.shutdown()
    }
  }
}

/**
 * Returns the text of the exporter, which writes all in one go, without holding the event loop: 2,000 series have 5 MB. It is in parts, because even
 * to join them takes longer than to write one.
 */
async function serializeInTurns(serializer: PrometheusSerializer, { scopeMetrics, ...others }: ResourceMetrics) {
  const parts: Buffer[] = []
  let left = maxPointsPerTurn
  for (const { metrics, ...scope } of scopeMetrics) {
    for (const metric of metrics) {
      for (let start = 0; start === 0 || start < metric.dataPoints.length; start += maxPointsPerTurn) {
        const dataPoints = metric.dataPoints.slice(start, start + maxPointsPerTurn)
        const text = serializer.serialize({ ...others, scopeMetrics: [{ ...scope, metrics: [{ ...metric, dataPoints } as MetricData] }] })
        parts.push(Buffer.from(start === 0 ? text : text.replace(/^(?:#.*\n)+/, '')))
        left -= dataPoints.length
        if (left > 0) continue
        left = maxPointsPerTurn
        await setImmediate()
      }
    }
  }
  return parts
}
