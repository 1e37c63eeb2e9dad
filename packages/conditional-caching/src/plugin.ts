import { observeErrorHandlers } from '@concordat/plugin-kit/api-error'
import { onEachRoute } from '@concordat/plugin-kit/findings'
import { chain, planStep, type StepRoute, stepHook, warnWithoutRoutes } from '@concordat/plugin-kit/steps'
import { contractLater, contribute, isOutside, publish, requireKnownConfig, requireNoEarlierRoutes } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import type { CachePolicy } from './cache-policy.ts'
import {
  type CheckedRequest,
  checkedHandler,
  checkedPreconditions,
  type Preconditions,
  unconditional,
  writeCheck
} from './checked-write.ts'
import { writeTag } from './entity-tag.ts'
import { conditionalCachingErrors } from './errors.ts'
import { operationParts } from './operation-parts.ts'
import { type ConditionalCachingOptions, resolveOptions } from './options.ts'
import { forbidKeeping, responseHeaders } from './response-headers.ts'
import { isRead, routeSettings } from './route-settings.ts'
import { arrivedAt, noteArrival, taggedVersion, validateBefore, validateContent, validatedState } from './validated-read.ts'
import type { TagSettings, ValidatorFunction } from './validator.ts'
import { representationsOf, versionTag } from './version-tag.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The cache policy of responses to GET and HEAD, or to POST on a route that has only POST. */
    cache?: CachePolicy | undefined
    /** Returns whether the requested resource exists, and its version, with which 304 and 412 are decided before the handler runs. */
    validator?: ValidatorFunction | undefined
    /** Whether a change without `If-Match` gets 428. A PUT may have `If-None-Match: *` instead. */
    requireIfMatch?: boolean | undefined
  }
  interface FastifyRequest {
    /** The preconditions of the request, for use in the write itself, for example in its `WHERE` clause. */
    readonly preconditions: Preconditions
  }
  interface FastifyReply {
    /** Sets `ETag` from the version of the resource in the response; after a write, pass the new version. */
    entityTag(version: string | number): this
  }
}

const compressor = '@fastify/compress'
const routeTags: unique symbol = Symbol('concordat.routeTags')
type TaggedConfig = { readonly [routeTags]?: TagSettings }

/** Sets the cache policy of every response, responds with 304 for unchanged resources, and checks the preconditions of changes. */
const conditionalCaching: FastifyPluginAsync<ConditionalCachingOptions> = async (app, userOptions) => {
  const options = resolveOptions(userOptions, app)
  // Looked up later, because content-negotiation may be registered after this plugin.
  const negotiated = contractLater(app, 'negotiated')
  const unknownRoute = tagsOf(app)

  requireKnownConfig(app, 'conditional-caching')
  warnWithoutRoutes(app, 'conditional-caching')
  requireNoEarlierRoutes(app, 'conditional-caching')
  contribute(app, 'errors', conditionalCachingErrors)
  observeErrorHandlers(app)
  contribute(app, 'operations', operationParts)
  publish(app, { defaultCache: userOptions.cache ?? 'private' })
  app.decorateRequest(checkedPreconditions, null)
  app.decorateRequest('preconditions', { getter: preconditions })
  app.decorateReply(validatedState, null)
  app.decorateReply(taggedVersion, null)
  app.decorateReply(arrivedAt, 0)
  app.decorateReply('entityTag', entityTag)
  onEachRoute(app, prepareRoute)
  // This step also covers requests without a route.
  planStep(app, 'onSend', () => forbidKeepingErrors)

  function prepareRoute(this: FastifyInstance, route: RouteOptions) {
    const { cache, validator } = route.config ?? {}
    if (isOutside(this, route) && cache === undefined && validator === undefined) return
    const settings = routeSettings(route, options)
    const isCompressed = this.hasPlugin(compressor) && (route as { compress?: unknown }).compress !== false
    const tags = tagsOf(this, route)
    const validate = validateContent(options, tags)
    route.config = Object.assign({}, route.config, { [routeTags]: tags })
    const writeHeaders = responseHeaders(settings, isCompressed, options)

    if (settings.reads) route.onRequest = chain('onRequest', noteArrival, route.onRequest)
    if (settings.reads && settings.validator) {
      // The validator runs after the route's own hooks, which may refuse the caller.
      route.preHandler = chain('preHandler', route.preHandler, validateBefore(settings.validator, options, tags))
    }
    if (settings.writes) route.handler = checkedHandler(route.handler, writeCheck(settings, options, tags))
    // Added once all plugins have added their hooks, in any order: compression and the storing of responses run between these two.
    this.after(() => {
      route.onSend = chain('onSend', stepHook('onSend', tagContent), route.onSend, stepHook('onSend', writeHeaders))
    })

    function tagContent(request: FastifyRequest, reply: FastifyReply, _route: StepRoute, payload: unknown) {
      if (settings.isReadOnly || isRead(request.method)) return validate(request, reply, payload, settings.policyOf(request.method))
      // The state has just changed, so its date must not be sent yet. A replay of a stored response must not have one later.
      reply.removeHeader('last-modified')
      return undefined
    }
  }

  function tagsOf(instance: FastifyInstance, route?: RouteOptions): TagSettings {
    return {
      localeOf: (request) => negotiated()?.localeOf(request) ?? '',
      representationOf: representationsOf(instance, route, options, negotiated)
    }
  }

  function tagsFor({ routeOptions }: FastifyRequest) {
    return (routeOptions.config as TaggedConfig)[routeTags] ?? unknownRoute
  }

  function preconditions(this: FastifyRequest) {
    return (this as CheckedRequest)[checkedPreconditions] ?? unconditional(this, tagsFor(this))
  }

  function entityTag(this: FastifyReply, version: string | number) {
    const { representationOf } = tagsFor(this.request)
    Object.assign(this, { [taggedVersion]: version })
    return this.header('etag', writeTag(versionTag(version, representationOf(this.request))))
  }
}

function forbidKeepingErrors(_request: FastifyRequest, reply: FastifyReply) {
  if (reply.statusCode >= 400) forbidKeeping(reply)
}

const plugin: FastifyPluginAsync<ConditionalCachingOptions> = fp(conditionalCaching, {
  name: '@concordat/conditional-caching',
  fastify: '^5.12.1'
})
export default plugin
