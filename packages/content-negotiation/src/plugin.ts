import { chooseMediaType, json, maxHeaderLength, memoize } from '@concordat/plugin-kit/accept'
import { observeErrorHandlers } from '@concordat/plugin-kit/api-error'
import { onEachRoute } from '@concordat/plugin-kit/findings'
import { chain, planStep, stepHook, varyWith, warnWithoutRoutes } from '@concordat/plugin-kit/steps'
import { contractOf, contribute, isOutside, publish, requireKnownConfig, requireNoEarlierRoutes } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { namedCodings } from './accept-encoding.ts'
import { contentNegotiationErrors, noCodingAcceptable, notAcceptable, unsupportedMediaType } from './errors.ts'
import { localeChooser } from './locale.ts'
import { operationParts } from './operation-parts.ts'
import { type ContentNegotiationOptions, resolveOptions } from './options.ts'
import { bodyJudge, type OtherTypes } from './request-body.ts'
import { consumedTypes, declaresBodyTypes, producedTypes, responseTypes, schemaBesideBytes } from './route-media-types.ts'
import { awaitResponse, requireAccepted } from './undeclared-response.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The media types that the route can send, the preferred first. By default those of `content` in the schema of a 2xx response, or JSON. JSON is added,
     * except on operational routes and routes outside the API.
     */
    produces?: readonly string[] | undefined
    /**
     * The media types of bodies that it accepts. By default those of `schema.body.content`, or JSON, for PATCH also a merge patch (RFC 7396); without
     * versions, also those for which a parser is registered.
     */
    consumes?: readonly string[] | undefined
  }
  interface FastifyRequest {
    /** The locale of the service that best matches `Accept-Language`. */
    readonly locale: string
    /** The media type that the response should have: the type in `produces` of the route that `Accept` prefers. */
    readonly acceptedMediaType: string
  }
}

type Writable<Value> = { -readonly [Key in keyof Value]: Value[Key] }
type BodyDone = (error: Error | null, body?: unknown) => void

/** Negotiates the media type and the language of responses, checks the media type of request bodies, and sets `Vary`. */
async function plugin(app: FastifyInstance, options: ContentNegotiationOptions) {
  const { locales, contentEncodings } = resolveOptions(options)
  const localeOf = localeChooser(locales)
  const parseJson = app.getDefaultJsonParser('error', 'error')
  // Routes with the same media types share a hook and the results that it caches.
  const negotiatorOf = memoize((types) => negotiator(types.split(','), false))
  const undeclaredNegotiator = negotiator([json], true)
  const judgesOf = (others: OtherTypes) => memoize((types) => bodyJudge(types.split(','), contentEncodings, others))
  const judges = { refused: judgesOf('refused'), logged: judgesOf('logged'), parsed: judgesOf('parsed') }
  const patchTypes = new Set<string>()

  requireKnownConfig(app, 'content-negotiation')
  warnWithoutRoutes(app, 'content-negotiation')
  requireNoEarlierRoutes(app, 'content-negotiation')
  contribute(app, 'errors', contentNegotiationErrors)
  observeErrorHandlers(app)
  contribute(app, 'operations', () => operationParts)
  publish(app, { negotiated: { mediaTypeOf: ({ acceptedMediaType }) => acceptedMediaType, localeOf: ({ locale }) => locale } })
  app.decorateRequest('acceptedMediaType', json)
  app.decorateRequest('locale', {
    getter() {
      return localeOf(this.headers['accept-language'])
    }
  })
  onEachRoute(app, prepareRoute)
  planStep(app, 'onSend', () => addHeaders)
  // Fastify tries this parser last: a parser for a type or a pattern takes precedence, wherever and whenever it is registered.
  app.addContentTypeParser('*', { parseAs: 'buffer' }, parseUnclaimed)

  // To the route itself, so that the hooks of Fastify instances run first, which report a retired version or missing credentials.
  function prepareRoute(this: FastifyInstance, route: RouteOptions) {
    const outside = isOutside(this, route)
    if (outside && route.config?.produces === undefined && route.config?.consumes === undefined) return
    const methods = [route.method].flat()
    const name = `${methods.join(', ')} ${route.url}`
    const isOfApi = !outside && (route.config as { operational?: unknown } | undefined)?.operational !== true
    const hasVersions = contractOf(this, 'belongsToApi') !== undefined
    const declaredTypes = route.config?.produces ?? responseTypes(route.schema?.response)
    const others = declaresBodyTypes(route) ? 'refused' : hasVersions ? 'logged' : 'parsed'
    const produces = producedTypes(declaredTypes, isOfApi, name)
    const consumes = consumedTypes(route.config?.consumes, methods, route.schema?.body, name)
    const body = schemaBesideBytes(route.schema?.body, consumes)
    if (body !== route.schema?.body) route.schema = { ...route.schema, body }
    if (methods.includes('PATCH')) patchTypes.add(consumes.join(', '))
    route.config = { ...route.config, produces, consumes }
    route.onRequest = chain(
      'onRequest',
      route.onRequest,
      declaredTypes === undefined && !hasVersions ? undeclaredNegotiator : negotiatorOf(produces.join())
    )
    if (methods.every((method) => method === 'GET' || method === 'HEAD')) return
    route.preParsing = chain('preParsing', judges[others](consumes.join()), route.preParsing)
  }

  function addHeaders(request: FastifyRequest, reply: FastifyReply, _route: unknown, payload: unknown) {
    requireAccepted(request, reply, payload)
    reply.header('vary', varyWith(reply.getHeader('vary'), reply.hasHeader('content-language') ? 'accept, accept-language' : 'accept'))
    // RFC 5789 §3.1. If PATCH routes accept different types, a response without a route cannot tell which belong to its URL.
    const [types] = patchTypes
    if (request.method === 'OPTIONS' && patchTypes.size === 1 && String(reply.getHeader('allow')).includes('PATCH'))
      reply.header('accept-patch', types)
  }

  function parseUnclaimed(request: FastifyRequest, body: Buffer, done: BodyDone) {
    const mediaType = request.mediaType ?? ''
    const consumes = request.routeOptions.config.consumes ?? [json]
    if (request.is404) done(null)
    else if (!consumes.includes(mediaType) || mediaType.startsWith('multipart/')) done(unsupportedMediaType(request.method, consumes))
    else if (mediaType === json || mediaType.endsWith('+json')) parseJson.call(app, request, body.toString(), done)
    else done(null, body)
  }
}

// The response decides where the route does not declare its media types and the method has no effect.
function negotiator(produces: readonly string[], isUndeclared: boolean) {
  const choose = memoize((accept) => chooseMediaType(accept, produces))
  const preferred = chooseMediaType(undefined, produces) as string
  return stepHook('onRequest', (request: Writable<FastifyRequest>) => {
    const { accept, 'accept-encoding': encoding } = request.headers
    request.acceptedMediaType = preferred
    // Most headers are plain lists, such as `gzip, br`.
    if (typeof encoding === 'string' && encoding.length <= maxHeaderLength && /;|\*./.test(encoding)) {
      const named = namedCodings(encoding)
      if (named === undefined && request.method !== 'OPTIONS') return noCodingAcceptable()
      request.headers['accept-encoding'] = named ?? encoding
    }
    if (accept === undefined || accept === '*/*' || accept === preferred) return undefined
    if (request.method === 'OPTIONS' || accept.length > maxHeaderLength) return undefined
    const chosen = choose(accept)
    if (chosen !== undefined) request.acceptedMediaType = chosen
    else if (isUndeclared && (request.method === 'GET' || request.method === 'HEAD')) awaitResponse(request)
    else return notAcceptable(produces)
    return undefined
  })
}

const contentNegotiation: FastifyPluginAsync<ContentNegotiationOptions> = fp(plugin, {
  name: '@concordat/content-negotiation',
  fastify: '^5.12.1'
})
export default contentNegotiation
