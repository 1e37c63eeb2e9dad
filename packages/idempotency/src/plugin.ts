import type { FastifyPluginAsync, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import fp from 'fastify-plugin'
import { pathTooLong } from './errors.ts'
import { type IdempotencyOptions, resolveOptions } from './options.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** `false`: this route takes paths of any length. */
    idempotency?: false
  }
}

/** A retried request runs once: its answer is stored before it is sent, and replayed to whoever asks again */
// Async, because what a callback plugin throws ends the process instead of the boot.
const idempotency: FastifyPluginAsync<IdempotencyOptions> = async (app, userOptions) => {
  const { maxPathLength } = resolveOptions(userOptions)

  app.addHook('onRequest', refuseLongPaths)

  function refuseLongPaths(request: FastifyRequest, _reply: FastifyReply, next: HookHandlerDoneFunction) {
    const long = request.url.length > maxPathLength && request.routeOptions.config.idempotency !== false
    next(long ? pathTooLong(maxPathLength) : undefined)
  }
}

const plugin: FastifyPluginAsync<IdempotencyOptions> = fp(idempotency, { name: '@concordat/idempotency', fastify: '5.x' })
export default plugin
