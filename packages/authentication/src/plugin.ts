import type { FastifyPluginAsync, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import fp from 'fastify-plugin'
import { pathTooLong } from './errors.ts'
import { type AuthenticationOptions, resolveOptions } from './options.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** `false`: this route takes paths of any length. */
    authentication?: false
  }
}

/** Say here in one sentence what it promises. */
// Async, because what a callback plugin throws ends the process instead of the boot.
const authentication: FastifyPluginAsync<AuthenticationOptions> = async (app, userOptions) => {
  const { maxPathLength } = resolveOptions(userOptions)

  app.addHook('onRequest', refuseLongPaths)

  function refuseLongPaths(request: FastifyRequest, _reply: FastifyReply, next: HookHandlerDoneFunction) {
    const long = request.url.length > maxPathLength && request.routeOptions.config.authentication !== false
    next(long ? pathTooLong(maxPathLength) : undefined)
  }
}

const plugin: FastifyPluginAsync<AuthenticationOptions> = fp(authentication, { name: '@concordat/authentication', fastify: '5.x' })
export default plugin
