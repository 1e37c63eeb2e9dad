import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { answerHeaders, forbidKeeping } from './answer-headers.ts'
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
import { isRead } from './method.ts'
import { type ConditionalCachingOptions, resolveOptions } from './options.ts'
import { routeSettings } from './route-settings.ts'
import { validateBefore, validateContent, validatedState } from './validated-read.ts'
import { opaqueOf, type ValidatorFunction } from './validator.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How the answers to GET and HEAD may be kept; on a route with POST alone, those to POST. */
    cache?: CachePolicy
    /**
     * Finds out which version the resource of a request has. GET and HEAD are then answered 304 before the handler, and the preconditions
     * of POST, PUT, PATCH and DELETE are checked before theirs.
     */
    validator?: ValidatorFunction
    /** A change without `If-Match` is 428. A PUT may have `If-None-Match: *` instead. */
    requireIfMatch?: boolean
  }
  interface FastifyRequest {
    /** What the client asked of the state that its change is meant for, for the write itself. */
    readonly preconditions: Preconditions
  }
  interface FastifyReply {
    /** Says which version the answer shows, as the number of a row: it becomes the tag. For a write, the version after it. */
    entityTag(version: string | number): this
  }
}

const compressor = '@fastify/compress'
type SendNext = (error: null, payload?: unknown) => void

/** Every answer says how it may be kept, an unchanged resource is not sent again, and a change meets the version that it is meant for. */
const conditionalCaching: FastifyPluginAsync<ConditionalCachingOptions> = async (app, userOptions) => {
  const options = resolveOptions(userOptions)
  const none = unconditional(options)
  const validate = validateContent(options)

  app.decorateRequest(checkedPreconditions, null)
  app.decorateRequest('preconditions', { getter: preconditions })
  app.decorateReply(validatedState, null)
  app.decorateReply('entityTag', entityTag)
  app.addHook('onRoute', prepareRoute)
  // Also for what no route has.
  app.addHook('onSend', forbidKeepingErrors)

  function prepareRoute(this: FastifyInstance, route: RouteOptions) {
    const settings = routeSettings(route, options)
    const isCompressed = this.hasPlugin(compressor) && (route as { compress?: unknown }).compress !== false
    const write = answerHeaders({ policyOf: settings.policyOf, isCompressed }, options)

    if (settings.reads && settings.validator) {
      // After the route's own hooks, which may refuse the caller.
      route.preHandler = [route.preHandler ?? [], validateBefore(settings.validator, options)].flat()
    }
    if (settings.writes) route.handler = checkedHandler(route.handler, writeCheck(settings, options))
    // Once every plugin has put its hooks there, wherever it is registered: compression and what stores answers come between these two.
    this.after(() => {
      route.onSend = [tagContent, route.onSend ?? [], writeHeaders].flat()
    })

    function tagContent(request: FastifyRequest, reply: FastifyReply, payload: unknown, next: SendNext) {
      next(null, isRead(request.method) ? validate(request, reply, payload, settings.policyOf(request.method)) : payload)
    }

    function writeHeaders(request: FastifyRequest, reply: FastifyReply, payload: unknown, next: SendNext) {
      next(null, write(request, reply, payload))
    }
  }

  function preconditions(this: FastifyRequest) {
    return (this as CheckedRequest)[checkedPreconditions] ?? none
  }

  function entityTag(this: FastifyReply, version: string | number) {
    return this.header('etag', writeTag({ opaque: opaqueOf(version, options.revision), isWeak: options.isWeak }))
  }
}

function forbidKeepingErrors(_request: FastifyRequest, reply: FastifyReply, _payload: unknown, next: SendNext) {
  if (reply.statusCode >= 400) forbidKeeping(reply)
  next(null)
}

const plugin: FastifyPluginAsync<ConditionalCachingOptions> = fp(conditionalCaching, {
  name: '@concordat/conditional-caching',
  fastify: '5.x'
})
export default plugin
