import type { FastifyInstance } from 'fastify'
import type { TransportSecurityOptions } from './options.ts'
import { trustsEveryone } from './trusted-proxies.ts'

/** Refuses a server that believes whoever connects, in production, and warns of what is fit for development alone. */
export function checkServer(app: FastifyInstance, options: TransportSecurityOptions): void {
  warnWithoutTimeouts(app)
  refuseTrustInEveryone(app)
  warnOfPlainHttp(app, options)
}

function warnWithoutTimeouts(app: FastifyInstance) {
  if (app.server.requestTimeout === 0) {
    app.log.warn('transport-security: a request may last for ever here. Make the server with Fastify({ ...transportServerOptions() }).')
  }
}

function refuseTrustInEveryone(app: FastifyInstance) {
  if (!trustsEveryone(constructorOptionsOf(app)?.['trustProxy'])) return
  const message = 'transport-security: trustProxy believes whoever connects. Name the proxies by address or CIDR range, as ["10.0.0.0/8"].'
  if (process.env['NODE_ENV'] === 'production') throw new TypeError(message)
  app.log.warn(message)
}

// Fastify shows its options to nobody, and the names of its symbols are no promise: without this one, nothing is refused.
function constructorOptionsOf(app: object | null): Record<string, unknown> | undefined {
  if (app === null) return undefined
  const symbol = Object.getOwnPropertySymbols(app).find(({ description }) => description === 'fastify.options')
  return symbol === undefined ? constructorOptionsOf(Object.getPrototypeOf(app)) : Reflect.get(app, symbol)
}

function warnOfPlainHttp(app: FastifyInstance, { dangerouslyAllowHttp }: TransportSecurityOptions) {
  if (!dangerouslyAllowHttp) return
  const whom = dangerouslyAllowHttp === 'loopback' ? 'from this machine' : 'from everyone'
  app.log.warn(`transport-security: plain HTTP ${whom} is let through, by dangerouslyAllowHttp. For development only.`)
}
