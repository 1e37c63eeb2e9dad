import { requirePluginNames } from '@concordat/plugin-options'
import type { FastifyRequest } from 'fastify'

/** Options of @concordat/http-methods. */
export interface HttpMethodsOptions {
  /**
   * Returns the values of the router's constraints for a request, by name. Required only with your own constraint strategies, because
   * Fastify does not expose them.
   * @default version from `Accept-Version`, host from `Host` or `:authority`
   */
  readonly constraints?: ((request: FastifyRequest) => Readonly<Record<string, unknown>>) | undefined
}

/** The options with their defaults, and a function that returns whether the value of a constraint can be derived from a request. */
export interface ResolvedOptions {
  readonly constraints: (request: FastifyRequest) => Readonly<Record<string, unknown>>
  readonly derives: (constraint: string) => boolean
}

/** Returns the options with defaults applied. Throws a `TypeError` if `constraints` is not a function. */
export function resolveOptions(options: HttpMethodsOptions): ResolvedOptions {
  requirePluginNames('http-methods', options, { constraints: true })
  const { constraints } = options
  if (constraints === undefined) {
    return { constraints: routerConstraints, derives: (constraint) => constraint === 'version' || constraint === 'host' }
  }
  if (typeof constraints !== 'function') {
    throw new TypeError(
      `http-methods: options.constraints must be a function that returns the constraint values of a request, but its type is ${typeof constraints}.`
    )
  }
  return { constraints, derives: () => true }
}

function routerConstraints({ raw: { headers } }: FastifyRequest) {
  return { version: headers['accept-version'], host: headers.host || headers[':authority'] }
}
