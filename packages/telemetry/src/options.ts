import { BlockList, isIP } from 'node:net'
import { describeOptions, flag, type OptionsOf, type SettingsOf, value } from '@concordat/plugin-kit/options'

/** The description of {@link TelemetryOptions}. */
export const telemetryOptions = describeOptions('telemetry', {
  /** Whether `GET /metrics` serves the metrics to Prometheus. By default they go to the `MeterProvider` that is registered with OpenTelemetry. */
  prometheus: flag(),
  /** Addresses and networks that may read `GET /metrics` without the permission `metrics:read`, and over plain HTTP, not through a proxy. By default this machine. */
  scrapers: value<readonly string[]>({ default: ['127.0.0.0/8', '::1'] }),
  /** Whether requests get spans, and transactions, jobs and deliveries continue them. */
  traces: flag(),
  /**
   * Whether requests continue the trace of their header `traceparent`. Any client can send it, and then decides which requests are recorded: only for
   * services behind a gateway that sets it. By default each request begins a trace.
   */
  tracesFromClients: flag(),
  /** Whether the receivers of webhooks get the header `traceparent`. They never get baggage. */
  tracesToReceivers: flag()
})

/** Options of `@concordat/telemetry`. */
export interface TelemetryOptions extends OptionsOf<typeof telemetryOptions> {}

/** The options with defaults applied. */
export type Settings = Omit<SettingsOf<(typeof telemetryOptions)['members']>, 'scrapers'> & { readonly scrapers: BlockList }

/** Returns the options with defaults applied. Throws a `TypeError` of one line for invalid ones. */
export function resolveOptions(options: TelemetryOptions): Settings {
  const { scrapers, ...settings } = telemetryOptions.readPlugin(options)
  for (const name of ['tracesFromClients', 'tracesToReceivers'] as const)
    if (settings[name] && !settings.traces)
      throw new TypeError(`telemetry: options.${name} has no effect without options.traces. Set traces to true, or remove it.`)
  return { ...settings, scrapers: networksOf(scrapers) }
}

function networksOf(scrapers: readonly string[]) {
  const networks = new BlockList()
  if (!Array.isArray(scrapers))
    throw new TypeError('telemetry: options.scrapers must be an array, for example ["127.0.0.0/8", "10.1.0.0/16"].')
  for (const network of scrapers as readonly unknown[]) {
    const [address = '', length] = String(network).split('/')
    const version = isIP(address)
    const bits = version === 6 ? 128 : 32
    const prefix = length === undefined ? bits : /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN
    if (version === 0 || !(prefix <= bits))
      throw new TypeError(
        `telemetry: options.scrapers contains "${String(network)}". It must be an IP address or a network, for example 10.1.0.0/16.`
      )
    networks.addSubnet(address, prefix, version === 6 ? 'ipv6' : 'ipv4')
  }
  return networks
}
