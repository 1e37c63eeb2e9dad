import { observeErrorHandlers } from '@concordat/plugin-kit/api-error'
import { onEachRoute } from '@concordat/plugin-kit/findings'
import { chain, planStep, type StepRoute, stepHook } from '@concordat/plugin-kit/steps'
import { contractOf, contribute, coverUnknownPaths, publish, requireKnownConfig } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { httpMethodsErrors, methodNotAllowed, methodNotImplemented } from './errors.ts'
import { removeBodyLast } from './head-response.ts'
import { type HttpMethodsOptions, resolveOptions } from './options.ts'
import { requireConstraints, requireNoBody } from './route-checks.ts'

// TRACE echoes credentials, CONNECT is for tunnels (RFC 9110 §9.3.6, §9.3.8), and OPTIONS needs no route.
const neverRouted = new Set(['TRACE', 'CONNECT', 'OPTIONS'])

/** Responds to OPTIONS requests, and rejects requests without a route with 404, 405 or 501. */
async function plugin(app: FastifyInstance, options: HttpMethodsOptions) {
  const { constraints, derives } = resolveOptions(options)
  const routed = new Set<string>()
  let routable: readonly string[] = []
  let supported: ReadonlySet<string> = new Set()

  requireKnownConfig(app, 'http-methods')
  contribute(app, 'errors', httpMethodsErrors)
  observeErrorHandlers(app)
  contribute(app, 'operations', ({ method }) => ({ errors: method === 'PUT' ? ['PARTIAL_PUT_NOT_SUPPORTED'] : [] }))
  publish(app, { allowedMethods: allowedFor })
  const isReached = coverUnknownPaths(app)
  app.addHook('onRoute', (route) => {
    // Not collected, because Fastify would report it next, in its own words.
    requireNoBody(route)
    for (const method of [route.method].flat()) routed.add(method)
  })
  onEachRoute(app, (route) => requireConstraints(route, derives))
  app.addHook('onRoute', function (route) {
    removeBodyLast(this, route)
    const isPut = [route.method].flat().includes('PUT')
    // Without versions, nothing tells the routes of the API from routes that may support parts.
    if (isPut && contractOf(this, 'belongsToApi')?.(this, route)) route.preParsing = chain('preParsing', refusePart, route.preParsing)
  })
  app.addHook('onReady', async () => {
    routable = app.supportedMethods.filter((method) => !neverRouted.has(method))
    supported = new Set(app.supportedMethods)
    if (!isReached && contractOf(Object.getPrototypeOf(app), 'allowedMethods') === undefined)
      app.log.warn(
        'http-methods: requests without a route do not reach the context of the plugin, because it has no prefix of its own, so they get neither 405 nor a response to OPTIONS. Register it on the root instance (in a file of @fastify/autoload, wrap the function with fastify-plugin) or in a context with a prefix.'
      )
  })
  planStep(app, 'onRequest', (route) => {
    if (!isOrdinary(route)) return respondWithoutRoute
    return route.config.url?.includes(':') === true ? refuseEmptyParameter : undefined
  })
  planStep(app, 'preParsing', (route) => (isOrdinary(route) ? undefined : refuseUnrouted))
  // Over HTTP/2 any text can be a method, and Fastify does not run the hooks above for an unknown method.
  if (app.initialConfig.http2 === true) planStep(app, 'onSend', () => refuseUnknown)

  // Before authentication, like a path without any route.
  function refuseEmptyParameter(request: FastifyRequest, reply: FastifyReply) {
    return hasEmptyParameter(request.params) ? refuse(request, reply) : undefined
  }

  function respondWithoutRoute(request: FastifyRequest, reply: FastifyReply) {
    if (hasEmptyParameter(request.params)) return refuse(request, reply)
    if (request.method !== 'OPTIONS' || isPreflight(request) || hasRoute(request)) return undefined
    const allowed = allowedFor(request)
    return allowed.length === 0 ? undefined : sendAllow(reply, allowed)
  }

  // Before the body is read, but after all onRequest hooks, so that the response is counted and logged and has CORS headers.
  function refuseUnrouted(request: FastifyRequest, reply: FastifyReply) {
    return hasRoute(request) ? undefined : refuse(request, reply)
  }

  function refuse(request: FastifyRequest, reply: FastifyReply) {
    if (!supported.has(request.method)) return methodNotImplemented(withOptions(routable))
    const allowed = allowedFor(request)
    if (allowed.length === 0) return httpMethodsErrors.create('RESOURCE_NOT_FOUND')
    // A preflight without a response from a CORS plugin is handled like any other OPTIONS request.
    return request.method === 'OPTIONS' ? sendAllow(reply, allowed) : methodNotAllowed(request.method, allowed)
  }

  function refuseUnknown(request: FastifyRequest, reply: FastifyReply) {
    if (reply.statusCode !== 404 || supported.has(request.method)) return
    reply.code(501)
    throw methodNotImplemented(withOptions(routable))
  }

  function allowedFor(request: FastifyRequest) {
    const url = request.raw.url as string
    if (url === '*' && request.method === 'OPTIONS') return withOptions(routable.filter((method) => routed.has(method)))
    const values = constraints(request)
    // For a URL that it cannot parse, the router returns a handle too, for every method; only a real match has a parsed query.
    const found = routable.filter((method) => {
      const route = app.findRoute({ method, url, constraints: values })
      return route?.searchParams !== undefined && !hasEmptyParameter(route.params)
    })
    return found.length === 0 ? found : withOptions(found)
  }
}

function withOptions(methods: Iterable<string>): readonly string[] {
  return [...new Set([...methods, 'OPTIONS'])].toSorted()
}

// Most routes. Without a method of its own, a route can be one that Fastify has for all methods.
function isOrdinary({ isUnknown, config: { method } }: StepRoute) {
  return !isUnknown && typeof method === 'string' && method !== 'OPTIONS' && method !== 'TRACE'
}

// TRACE never has a route, nor has OPTIONS if only the catch-all of a CORS plugin matches it.
function hasRoute(request: FastifyRequest) {
  if (request.is404 || request.method === 'TRACE') return false
  return request.method !== 'OPTIONS' || !/(^|[^/])\*$/.test(request.routeOptions.url as string)
}

// No resource has an empty identifier: `/orders/` with the route `/orders/:id`.
function hasEmptyParameter(parameters: unknown) {
  for (const name in parameters as Record<string, unknown>)
    if (name !== '*' && (parameters as Record<string, unknown>)[name] === '') return true
  return false
}

const refusePart = stepHook('preParsing', ({ method, headers }) =>
  method === 'PUT' && headers['content-range'] !== undefined ? httpMethodsErrors.create('PARTIAL_PUT_NOT_SUPPORTED') : undefined
)

function isPreflight({ headers }: FastifyRequest) {
  return headers.origin !== undefined && headers['access-control-request-method'] !== undefined
}

function sendAllow(reply: FastifyReply, allowed: readonly string[]) {
  return reply.code(204).header('allow', allowed.join(', ')).send()
}

const httpMethods: FastifyPluginAsync<HttpMethodsOptions> = fp(plugin, { name: '@concordat/http-methods', fastify: '^5.12.1' })
export default httpMethods
