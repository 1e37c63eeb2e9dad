import { type Contributions, contractOf, contribute } from '@concordat/plugin-kit/wiring'
import cors, { type FastifyCorsOptions } from '@fastify/cors'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** The response headers of the conventions that browsers hide from pages of other origins unless they are exposed. */
const exposedHeaders = [
  'Accept-Patch',
  'Accept-Post',
  'Allow',
  'Content-Disposition',
  'Deprecation',
  'Description-Digest',
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

type Hook = (request: FastifyRequest, reply: FastifyReply, next: () => void) => void
type Chosen = (error: null, options: FastifyCorsOptions) => void

/**
 * Returns the options for `@fastify/cors`: the response to a preflight request lists the methods that the router has for its URL, and all
 * other OPTIONS requests are handled like requests without an `Origin` header. Throws a `TypeError` if no origin is set.
 */
function corsOptions(
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

/** Registers `@fastify/cors`. Its hook does not see the errors of the hooks before it, and some responses have no hooks: both get its headers too. */
export async function addCors(app: FastifyInstance, options: FastifyCorsOptions): Promise<void> {
  const headersOf = corsHeaders(app, options)
  contribute(app, 'earlyHeaders', headersOf)
  await app.register(cors, corsOptions(app, options))
  app.addHook('onError', (request, reply, _error, done) => {
    if (!/\borigin\b/i.test(String(reply.getHeader('vary')))) reply.headers(headersOf(request))
    done()
  })
}

/**
 * Returns a function that returns the headers that `@fastify/cors` sets for a request, for responses that its hook does not see. The names are in
 * lower case. Such a response cannot wait: an `origin` function that calls back later, or returns a promise, adds only `vary`.
 */
function corsHeaders(app: FastifyInstance, options: FastifyCorsOptions): Contributions['earlyHeaders'] {
  let decide: Hook | undefined
  // The plugin itself decides, on an instance that only records its hook.
  const recorder: FastifyInstance = Object.assign(Object.create(app), {
    decorateRequest() {},
    options() {},
    addHook: (_name: string, hook: Hook) => (decide = hook)
  })
  cors(recorder, corsOptions(app, options), () => {})
  return ({ headers, routeOptions = {} }) => {
    const set = new Map<string, string>()
    const reply = {
      getHeader: (name: string) => set.get(name.toLowerCase()),
      header: (name: string, value: string) => set.set(name.toLowerCase(), value)
    }
    // With another method than OPTIONS, the hook only sets headers.
    const request = { method: 'GET', raw: { method: 'GET' }, headers, routeOptions }
    try {
      decide?.(request as FastifyRequest, reply as unknown as FastifyReply, () => {})
    } catch {
      // A function of the service threw an error, which other requests report. This response does not depend on it.
    }
    return Object.fromEntries(set)
  }
}

// Undefined for a request that is not a preflight, and for a URL without a route.
function methodsOf(app: FastifyInstance, request: FastifyRequest, { methods }: FastifyCorsOptions) {
  const { origin, 'access-control-request-method': method } = request.headers
  if (origin === undefined || method === undefined) return undefined
  const allowed = methods ?? contractOf(app, 'allowedMethods')?.(request) ?? ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']
  return allowed.length === 0 ? undefined : [allowed].flat()
}
