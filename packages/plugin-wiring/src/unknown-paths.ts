import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { rootOf } from './wiring.ts'

// Registered, so that two copies of this module find the same prefixes.
const coveringKey: unique symbol = Symbol.for('concordat.coveringContexts') as never

/**
 * Gives a child context with a prefix its own not-found handler, so that the hooks and the error handler of the context apply to unknown paths
 * below the prefix too. The response is that of Fastify. Has no effect on the root instance, in a context without a prefix of its own, whose unknown
 * paths belong to the contexts around it, and in a context that already has a handler. Of several contexts with the same prefix, the first counts.
 * Returns the context whose hooks run for the unknown paths.
 */
export function coverUnknownPaths(app: FastifyInstance): FastifyInstance {
  const root: FastifyInstance & { [coveringKey]?: Map<string, FastifyInstance> } = rootOf(app)
  if (root[coveringKey] === undefined) root.decorate(coveringKey, new Map<string, FastifyInstance>())
  const covering = root[coveringKey] as unknown as Map<string, FastifyInstance>
  const owner = contextWithPrefix(app, root)
  const other = covering.get(prefixOf(owner))
  if (owner !== app || owner === root || other !== undefined) return other ?? owner
  covering.set(prefixOf(app), app)
  try {
    app.setNotFoundHandler(respondAsFastify)
  } catch {
    // The context has a handler. Fastify has no way to find out before.
  }
  return app
}

/** Returns the nearest context that has a prefix of its own: the context itself, one around it, or the root instance. */
function contextWithPrefix(app: FastifyInstance, root: FastifyInstance): FastifyInstance {
  if (app === root) return root
  const parent = Object.getPrototypeOf(app) as FastifyInstance
  return prefixOf(app) === prefixOf(parent) ? contextWithPrefix(parent, root) : app
}

function prefixOf(app: FastifyInstance) {
  return app.prefix.replace(/\/$/, '')
}

function respondAsFastify({ raw: { method, url } }: FastifyRequest, reply: FastifyReply) {
  reply.code(404).send({ message: `Route ${method}:${url} not found`, error: 'Not Found', statusCode: 404 })
}
