import type { FastifyPluginAsync, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import fp from 'fastify-plugin'
import { pathTooLong } from './errors.ts'
import { resolveOptions, type WebhooksOptions } from './options.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** `false`: this route takes paths of any length. */
    webhooks?: false
  }
}

/** Signed webhooks that arrive: durable, retried, watched, and safe to offer to strangers, for Fastify */
// Async, because what a callback plugin throws ends the process instead of the boot.
const webhooks: FastifyPluginAsync<WebhooksOptions> = async (app, userOptions) => {
  const { maxPathLength } = resolveOptions(userOptions)

  app.addHook('onRequest', refuseLongPaths)

  function refuseLongPaths(request: FastifyRequest, _reply: FastifyReply, next: HookHandlerDoneFunction) {
    const long = request.url.length > maxPathLength && request.routeOptions.config.webhooks !== false
    next(long ? pathTooLong(maxPathLength) : undefined)
  }
}

const plugin: FastifyPluginAsync<WebhooksOptions> = fp(webhooks, { name: '@concordat/webhooks', fastify: '5.x' })
export default plugin
