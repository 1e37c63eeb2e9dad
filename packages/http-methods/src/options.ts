import type { FastifyRequest } from 'fastify'

/** What `@concordat/http-methods` can be told. */
export interface HttpMethodsOptions {
  /**
   * The values of the router's constraints for a request, by name. Needed only beside constraint strategies of your own,
   * which Fastify does not offer to be asked.
   * @default version from `Accept-Version`, host from `Host` or `:authority`
   */
  readonly constraints?: (request: FastifyRequest) => Readonly<Record<string, unknown>>
}

/** The options after defaults, and the one question that the plugin asks about a route's constraints. */
export interface ResolvedOptions {
  readonly constraints: (request: FastifyRequest) => Readonly<Record<string, unknown>>
  readonly derives: (constraint: string) => boolean
}

/** Fills in the defaults, and refuses what is not a function. */
export function resolveOptions({ constraints }: HttpMethodsOptions): ResolvedOptions {
  if (constraints === undefined) {
    return { constraints: routerConstraints, derives: (constraint) => constraint === 'version' || constraint === 'host' }
  }
  if (typeof constraints !== 'function') {
    throw new TypeError(`http-methods: constraints is a ${typeof constraints}. Give a function from the request to its constraint values.`)
  }
  return { constraints, derives: () => true }
}

function routerConstraints({ raw: { headers } }: FastifyRequest) {
  return { version: headers['accept-version'], host: headers.host || headers[':authority'] }
}
