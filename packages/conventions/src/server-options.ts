import { type ErrorCatalogueServerOptions, type ErrorCatalogueServerPart, errorCatalogueServerOptions } from '@concordat/error-catalogue'
import { type TransportServerOptions, type TransportServerPart, transportServerOptions } from '@concordat/transport-security'

/** Everything that Fastify's constructor alone can set, in the words of the packages that need it. */
export interface ServerOptions extends TransportServerOptions, ErrorCatalogueServerOptions {}

/** What {@link serverOptions} gives to `Fastify({...})`. */
export type ServerPart = TransportServerPart & ErrorCatalogueServerPart

/**
 * Makes the options for `Fastify({ ...serverOptions(), logger: true })`: limits, timeouts, request ids, log lines, the two
 * validators, and the answers to URLs that the router refuses. Throws a `TypeError` of one line for a value that makes no sense.
 */
export function serverOptions(options: ServerOptions = {}): ServerPart {
  const transport = transportServerOptions(options)
  const catalogue = errorCatalogueServerOptions(options)
  return {
    ...transport,
    ...catalogue,
    http: { ...transport.http, ...catalogue.http }
  }
}
