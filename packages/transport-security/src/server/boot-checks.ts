import { Server as TlsServer } from 'node:tls'
import { controlOf, type ServerControl } from '@concordat/plugin-kit/server'
import { isRoot } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { trustGateway, trustsEveryone } from '../headers/trusted-proxies.ts'

/**
 * Throws a `TypeError` if a production server trusts every client as a proxy, accepts plain HTTP or was not made by the server options, and logs a
 * warning for each insecure setting.
 */
export function checkServer(app: FastifyInstance, allowedHttp: 'loopback' | boolean): void {
  if (!isRoot(app)) {
    app.log.warn(
      'transport-security: the plugin is registered in a child context, but it redacts the logs and closes the connections of the whole server. Register it on the root instance.'
    )
  }
  const control = controlOf(app)
  if (control === undefined) refuseOtherServer(app)
  else if (app.server.requestTimeout === 0)
    app.log.warn(
      'transport-security: the server must have a request timeout. Remove requestTimeout from the options after transportSecurityServerOptions().'
    )
  // Fastify gives its options to a factory of servers only.
  const trustProxy: unknown = control?.options.trustProxy
  if (trustProxy === trustGateway)
    (control as ServerControl).refusal = new TypeError(
      "transport-security: options.trustProxy is ['gateway'], so the service must not listen, because any client could send X-Forwarded-* headers. Pass requests to app.inject, or list the proxies in trustProxy."
    )
  else if (trustsEveryone(trustProxy)) {
    const message =
      'transport-security: trustProxy must not trust every client. List the proxies by address or CIDR range, for example ["10.0.0.0/8"].'
    if (isProduction()) throw new TypeError(message)
    app.log.warn(message)
  }
  if (allowedHttp) warnOfPlainHttp(app, allowedHttp)
}

/**
 * Logs a warning if a production server refuses all requests to routes without `directAccess`, because none of them can arrive over HTTPS. It is not
 * an error, because a process can serve only health checks.
 */
export function warnOfRefusals(app: FastifyInstance, routes: readonly { readonly route: RouteOptions }[]): void {
  const { trustProxy } = controlOf(app)?.options ?? {}
  if (!isProduction() || app.server instanceof TlsServer) return
  const refused = routes.filter(({ route }) => route.config?.directAccess !== true)
  if ([trustProxy || []].flat().length > 0 || refused.length === 0) return
  const which = refused.length === routes.length ? 'every request' : 'every request, except to routes with config.directAccess,'
  app.log.warn(
    `transport-security: ${which} will get 403, because the server neither serves TLS nor trusts a proxy that does. List the TLS proxy in trustProxy, set https to serve TLS, or set config.directAccess on routes that accept plain HTTP, such as health checks.`
  )
}

function refuseOtherServer(app: FastifyInstance) {
  const message =
    'transport-security: Fastify was created without transportSecurityServerOptions() or with another serverFactory, so the server has no limits for slow clients, trustProxy is not checked, requests that a client pipelines are processed at the same time, and requests are lost when the server closes. Create it with Fastify({ ...transportSecurityServerOptions() }).'
  if (isProduction()) throw new TypeError(message)
  app.log.warn(message)
}

function isProduction() {
  return process.env['NODE_ENV'] === 'production'
}

function warnOfPlainHttp(app: FastifyInstance, allowed: 'loopback' | true) {
  if (isProduction()) {
    throw new TypeError(
      'transport-security: options.dangerouslyAllowHttp must be false in production. List the TLS proxy in trustProxy, or serve TLS.'
    )
  }
  const whom = allowed === 'loopback' ? 'from this machine' : 'from any client'
  app.log.warn(`transport-security: options.dangerouslyAllowHttp allows plain HTTP ${whom}. Use it for development only.`)
}
