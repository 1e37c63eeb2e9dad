import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { rootOf } from './wiring.ts'

// Registered, so that two copies of this module find the same prefixes.
const coveredKey: unique symbol = Symbol.for('concordat.coveredPrefixes') as never

const respondAsFastify = ({ raw: { method, url } }: FastifyRequest, reply: FastifyReply) =>
  reply.code(404).send({ message: `Route ${method}:${url} not found`, error: 'Not Found', statusCode: 404 })

/**
 * Gives a child context with a prefix its own not-found handler, so that the hooks and the error handler of the context apply to unknown paths
 * below the prefix too. The response is that of Fastify. Has no effect on the root instance, in a context without a prefix of its own, whose unknown
 * paths belong to the contexts around it, and in a context that already has a handler. Of several contexts with the same prefix, the first counts.
 * Returns whether the unknown paths belong to this context or to another with its prefix.
 */
export function coverUnknownPaths(app: FastifyInstance): boolean {
  const root: FastifyInstance & { [coveredKey]?: Set<string> } = rootOf(app)
  const prefix = app.prefix.replace(/\/$/, '')
  if (root === app || prefix === '' || app.prefix === (Object.getPrototypeOf(app) as FastifyInstance).prefix) return root === app
  if (root[coveredKey] === undefined) root.decorate(coveredKey, new Set<string>())
  const covered = root[coveredKey] as unknown as Set<string>
  if (covered.has(prefix)) return true
  covered.add(prefix)
  try {
    app.setNotFoundHandler(respondAsFastify)
  } catch {
    // The context has a handler. Fastify has no way to find out before.
  }
  return true
}
