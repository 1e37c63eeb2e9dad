import { contractOf } from '@concordat/plugin-wiring'
import type { FastifyCorsOptions } from '@fastify/cors'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/** The response headers of the conventions that browsers hide from pages of other origins unless they are exposed. */
const exposedHeaders = [
  'Accept-Patch',
  'Accept-Post',
  'Allow',
  'Content-Disposition',
  'Deprecation',
  'ETag',
  'Idempotency-Replayed',
  'Idempotency-Status',
  'Link',
  'Location',
  'Preference-Applied',
  'RateLimit',
  'RateLimit-Policy',
  'Request-Id',
  'Retry-After',
  'Sunset',
  'Warning',
  'WWW-Authenticate'
]

type Chosen = (error: null, options: FastifyCorsOptions) => void

/**
 * Returns the options for `@fastify/cors`: the response to a preflight request lists the methods that the router has for its URL, and all
 * other OPTIONS requests are handled like requests without an `Origin` header. Throws a `TypeError` if no origin is set.
 */
export function corsOptions(
  app: FastifyInstance,
  options: FastifyCorsOptions
): { readonly delegator: (request: FastifyRequest, choose: Chosen) => void } {
  if (options.origin === undefined)
    throw new TypeError(
      'conventions: options.cors.origin is missing. Set the origins whose pages may read responses, for example ["https://app.example.com"].'
    )
  const settings = {
    ...options,
    exposedHeaders: [...exposedHeaders, ...[options.exposedHeaders ?? []].flat()]
  }
  return {
    delegator(request: FastifyRequest, choose: Chosen) {
      const methods = request.method === 'OPTIONS' ? methodsOf(app, request, options) : undefined
      choose(null, methods === undefined ? { ...settings, preflight: false } : { ...settings, methods })
    }
  }
}

// Undefined for a request that is not a preflight, and for a URL without a route.
function methodsOf(app: FastifyInstance, request: FastifyRequest, { methods }: FastifyCorsOptions) {
  const { origin, 'access-control-request-method': method } = request.headers
  if (origin === undefined || method === undefined) return undefined
  const allowed = methods ?? contractOf(app, 'allowedMethods')?.(request) ?? ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']
  return allowed.length === 0 ? undefined : [allowed].flat()
}
