import { requirePeers } from '@concordat/plugin-kit/options'
import { contributions, publish, requireKnownConfig } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'
import { readGauges } from './gauges.ts'
import { instrumentsOf, prometheusName } from './meters.ts'
import { addMetricsRoute } from './metrics-route.ts'
import { resolveOptions, type TelemetryOptions } from './options.ts'
import { processGauges } from './process.ts'
import { openCollector } from './prometheus.ts'
import { measureRequests } from './requests.ts'
import { traceWork } from './traces.ts'

/**
 * Begins to measure what the plugins that are registered after it decide, and returns the function that adds `GET /metrics` where that is wanted. Call it
 * after the plugins whose hooks the route needs.
 */
export async function openTelemetry(app: FastifyInstance, options: TelemetryOptions): Promise<() => void> {
  const settings = resolveOptions(options)
  requireFirst(app)
  requirePeers('telemetry: the plugin', ['@opentelemetry/api@1.9'], import.meta)
  const api = await import('@opentelemetry/api')
  const collector = settings.prometheus ? await openCollector(api) : undefined
  const { provider = api.metrics.getMeterProvider() } = collector ?? {}
  const meter = provider.getMeter('@concordat/telemetry')
  if (meter === api.createNoopMeter() && !settings.traces)
    throw new TypeError(
      'telemetry: no MeterProvider is registered with @opentelemetry/api, so nothing would be measured. Start the SDK of OpenTelemetry before the service, or set options.prometheus to true.'
    )
  const instruments = instrumentsOf(meter, collector ? prometheusName : ({ name }) => name)
  const ofProcess = processGauges()

  requireKnownConfig(app, 'telemetry')
  publish(app, { observer: { ...instruments.observer, ...traceWork(app, api, settings) } })
  measureRequests(app, instruments)
  // When all plugins have contributed.
  app.addHook('onReady', async () => {
    for (const gauges of [ofProcess, ...contributions(app, 'gauges')]) readGauges(instruments, gauges, app.log)
  })
  app.addHook('onClose', async () => {
    ofProcess.close()
    await collector?.close()
  })
  return () => {
    if (collector !== undefined) addMetricsRoute(app, collector.collect, settings.scrapers)
  }
}

// Plugins look for the observer when they are registered.
function requireFirst(app: FastifyInstance) {
  if (contributions(app, 'operations').length + contributions(app, 'errors').length === 0) return
  throw new Error('telemetry: the plugin is registered after plugins that it measures. Register it before them.')
}

/** Measures what the conventions decide, through the API of OpenTelemetry: for any exporter, or at `GET /metrics` for Prometheus. */
const telemetry: FastifyPluginAsync<TelemetryOptions> = async (app, options) => {
  const addRoute = await openTelemetry(app, options)
  addRoute()
}

const plugin: FastifyPluginAsync<TelemetryOptions> = fp(telemetry, { name: '@concordat/telemetry', fastify: '^5.12.1' })
export default plugin
