import { type ErrorCatalogueServerOptions, type ErrorCatalogueServerPart, errorCatalogueServerOptions } from '@concordat/error-catalogue'
import { type TransportServerOptions, type TransportServerPart, transportServerOptions } from '@concordat/transport-security'

/** Everything that Fastify's constructor alone can set, in the words of the packages that need it. */
export interface ServerOptions extends TransportServerOptions, ErrorCatalogueServerOptions {
  /**
   * The proxies whose `X-Forwarded-*` headers are believed, as addresses or CIDR ranges.
   * @default [] – none
   */
  readonly trustProxy?: string[]
}

/** What {@link serverOptions} gives to `Fastify({...})`. */
export type ServerPart = TransportServerPart & ErrorCatalogueServerPart & { readonly trustProxy: string[] | false }

/**
 * Makes the options for `Fastify({ ...serverOptions(), logger: true })`: limits, timeouts, request ids, log lines, the two
 * validators, and the answers to URLs that the router refuses. Throws a `TypeError` of one line for a value that makes no sense.
 */
export function serverOptions(options: ServerOptions = {}): ServerPart {
  const { trustProxy = [] } = options
  // A hop count or `true` would believe whoever connects directly.
  if (!Array.isArray(trustProxy))
    throw new TypeError('trustProxy is no list. Name the proxies by address or CIDR range, as ["10.0.0.0/8"].')
  const transport = transportServerOptions(options)
  const catalogue = errorCatalogueServerOptions(options)
  return {
    ...transport,
    ...catalogue,
    http: { ...transport.http, ...catalogue.http },
    trustProxy: trustProxy.length > 0 ? trustProxy : false
  }
}
