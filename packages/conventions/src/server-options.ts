import { type ErrorCatalogueServerPart, errorCatalogueServerOptions } from '@concordat/error-catalogue'
import {
  type TransportSecurityServerOptions,
  type TransportSecurityServerPart,
  transportSecurityServerOptions
} from '@concordat/transport-security'

/** Options of {@link serverOptions}: the settings of all packages that only Fastify's constructor can apply. */
export interface ServerOptions extends TransportSecurityServerOptions {}

/** The options that {@link serverOptions} returns for `Fastify({...})`. */
export type ServerPart = TransportSecurityServerPart & ErrorCatalogueServerPart

/**
 * Returns the options for `Fastify({ ...serverOptions(), logger: true })`: limits, timeouts, request ids, log lines, the schema validators, and
 * the responses to URLs that the router rejects. Throws a `TypeError` of one line for an invalid value.
 */
export function serverOptions(options: ServerOptions = {}): ServerPart {
  return { ...transportSecurityServerOptions(options), ...errorCatalogueServerOptions() }
}
