import { observeErrorHandlers } from '@concordat/plugin-kit/api-error'
import { onEachRoute, readEachRoute } from '@concordat/plugin-kit/findings'
import type { JsonSchema } from '@concordat/plugin-kit/json-schema'
import { hrefOf, linkCheck, originResolver } from '@concordat/plugin-kit/links'
import { chain, type StepRoute, stepHook, warnWithoutRoutes } from '@concordat/plugin-kit/steps'
import { contractOf, contribute, publish, requireKnownConfig, requireNoEarlierRoutes } from '@concordat/plugin-kit/wiring'
import type {
  ContextConfigDefault,
  FastifyInstance,
  FastifyPluginAsync,
  FastifyReply,
  FastifyRequest,
  FastifySchema,
  FastifyTypeProvider,
  FastifyTypeProviderDefault,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerBase,
  RawServerDefault,
  RouteGenericInterface,
  RouteOptions
} from 'fastify'
import type { FastifyReplyType, ResolveFastifyReplyType } from 'fastify/types/type-provider.js'
import fp from 'fastify-plugin'
import { type EnvelopedReply, enveloped, markReplayed, wraps } from './enveloped.ts'
import { addLink, envelopeOf, envelopeParts, listInEnvelope, replyProperties, requireEnvelope, setSelfLink } from './enveloping.ts'
import { envelopeErrors } from './errors.ts'
import { type EnvelopeOptions, resolveOptions } from './options.ts'
import { declareResponses, requireJsonResponses } from './response-schemas.ts'
import { timestampTail } from './timestamp.ts'
import { undeclaredResponses } from './undeclared-response.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set to `false` to send the responses of this route as the handler returns them. */
    envelope?: false | undefined
  }
  interface FastifyReply<
    RouteGeneric extends RouteGenericInterface = RouteGenericInterface,
    RawServer extends RawServerBase = RawServerDefault,
    RawRequest extends RawRequestDefaultExpression<RawServer> = RawRequestDefaultExpression<RawServer>,
    RawReply extends RawReplyDefaultExpression<RawServer> = RawReplyDefaultExpression<RawServer>,
    ContextConfig = ContextConfigDefault,
    SchemaCompiler extends FastifySchema = FastifySchema,
    TypeProvider extends FastifyTypeProvider = FastifyTypeProviderDefault,
    ReplyType extends FastifyReplyType = ResolveFastifyReplyType<TypeProvider, SchemaCompiler, RouteGeneric>
  > {
    /** Adds a link to `_links`. The path is relative to the version; an absolute URL is unchanged. */
    link(rel: string, path: string, method?: string): this
    /** Responds with 201, `Location` and the new resource, whose URL becomes the self link. Return its result (rule M2). */
    created(path: string, resource: ReplyType): ReplyType
    /** Responds with 204 and no body. Return its result. */
    noContent(): null
    /**
     * Sends a list that does not fit in memory. Each piece is the JSON text of one item, or of several separated by commas. The pieces
     * are not checked against the schema. Return its result.
     */
    streamed(pieces: AsyncIterable<string>): ReplyType
  }
}

type SendNext = (error: null, payload: unknown) => void

/** Sends every successful response in the envelope: `data`, `_links` and `_meta`. Members that the schema does not declare are removed. */
const envelope: FastifyPluginAsync<EnvelopeOptions> = async (app, userOptions) => {
  const options = resolveOptions(userOptions, app)
  const pages = contractOf(app, 'pages')
  const originOf = originResolver(options)
  const checkLink = linkCheck(app, 'envelope')
  const partsOf = envelopeParts(options, pages)

  requireKnownConfig(app, 'envelope')
  warnWithoutRoutes(app, 'envelope')
  requireNoEarlierRoutes(app, 'envelope')
  contribute(app, 'errors', envelopeErrors)
  observeErrorHandlers(app)
  publish(app, { envelope: { wraps, markReplayed, volatileTail: timestampTail } })
  app.decorateReply(enveloped, false)
  for (const key of replyProperties) app.decorateReply(key, null)
  app.decorateReply('link', link)
  app.decorateReply('created', created)
  app.decorateReply('noContent', noContent)
  app.decorateReply('streamed', streamed)
  readEachRoute(app, function (route) {
    requireJsonResponses(this, route)
  })
  onEachRoute(app, envelopRoute)

  function envelopRoute(this: FastifyInstance, route: RouteOptions) {
    if (!wraps(this, route)) return
    const responses = declareResponses(route, pages?.meta(route) as Record<string, JsonSchema> | undefined)
    const lookup = (id: string) => this.getSchema(id) as JsonSchema | undefined
    const undeclared = undeclaredResponses(responses, lookup)
    const enveloping = envelopeOf(partsOf, pages, responses, undeclared, lookup)
    // A new object, because the author may use the same schema for another route.
    route.schema = { ...route.schema, response: responses.response }
    route.preSerialization = [route.preSerialization ?? [], envelop].flat()
    route.onSend = chain('onSend', stepHook('onSend', refuseUndeclared), route.onSend)

    function envelop(request: FastifyRequest, reply: FastifyReply, payload: unknown, next: SendNext) {
      next(null, enveloping(request, reply, payload))
    }

    function refuseUndeclared(request: FastifyRequest, reply: FastifyReply, _route: StepRoute, payload: unknown) {
      if ((reply as EnvelopedReply)[enveloped]) return undefined
      return requireEnvelope(request, reply, payload, responses.otherTypes, undeclared, partsOf)
    }
  }

  function streamed(this: FastifyReply, pieces: AsyncIterable<string>) {
    return listInEnvelope(this.request, this, pieces, partsOf) as never
  }

  function link(this: FastifyReply, rel: string, path: string, method = 'GET') {
    addLink(this, { rel, href: pathHref(this.request, path, method), method })
    return this
  }

  function created(this: FastifyReply, path: string, resource: unknown) {
    const href = pathHref(this.request, path, 'GET')
    setSelfLink(this, href)
    this.raw.statusCode = 201
    this.header('location', href)
    return resource
  }

  function pathHref(request: FastifyRequest, path: string, method: string) {
    const absolute = /^https?:/i.test(path) ? path : options.base(request) + path
    checkLink(request, absolute, method)
    return hrefOf(originOf(request), absolute)
  }
}

function noContent(this: FastifyReply) {
  this.raw.statusCode = 204
  return null
}

const plugin: FastifyPluginAsync<EnvelopeOptions> = fp(envelope, { name: '@concordat/envelope', fastify: '^5.12.1' })
export default plugin
