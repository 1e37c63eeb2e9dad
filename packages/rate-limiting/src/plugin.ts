import type { FastifyPluginAsync, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import fp from 'fastify-plugin'
import { pathTooLong } from './errors.ts'
import { type RateLimitingOptions, resolveOptions } from './options.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** `false`: this route takes paths of any length. */
    rateLimiting?: false
  }
}

/** Say here in one sentence what it promises. */
// Async, because what a callback plugin throws ends the process instead of the boot.
const rateLimiting: FastifyPluginAsync<RateLimitingOptions> = async (app, userOptions) => {
  const { maxPathLength } = resolveOptions(userOptions)

  app.addHook('onRequest', refuseLongPaths)

  function refuseLongPaths(request: FastifyRequest, _reply: FastifyReply, next: HookHandlerDoneFunction) {
    const long = request.url.length > maxPathLength && request.routeOptions.config.rateLimiting !== false
    next(long ? pathTooLong(maxPathLength) : undefined)
  }
}

const plugin: FastifyPluginAsync<RateLimitingOptions> = fp(rateLimiting, { name: '@concordat/rate-limiting', fastify: '5.x' })
export default plugin
