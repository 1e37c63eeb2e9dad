import { Type } from '@sinclair/typebox'
import type { FastifyInstance, RouteHandlerMethod, RouteShorthandOptions } from 'fastify'
import { canary } from './check-response.ts'

/** The schema of the resource of every route of the hostile server. */
export const Thing = Type.Object({ id: Type.String(), size: Type.Optional(Type.Integer()) })

export const aThing = { id: 'one' }

/** Returns an error with the canary in every member that could leak: message, stack, causes, own members. */
export function innerError(members: object = {}): Error {
  const deepest = new Error(`${canary} deepest`)
  const cause = new Error(`${canary} cause`, { cause: { text: canary, deepest } })
  return Object.assign(new Error(`${canary} message`, { cause }), { detail: canary, table: canary, ...members })
}

/** Adds a route that responds with a thing unless it misbehaves. Its path is not a noun, so it is declared operational. */
export function addRoute(
  app: FastifyInstance,
  path: string,
  handler: RouteHandlerMethod,
  options: RouteShorthandOptions & { method?: string } = {}
) {
  const { method = 'GET', schema, config, ...rest } = options
  app.route({
    ...rest,
    method,
    url: path,
    schema: { response: { 200: Thing }, ...schema },
    config: { ...config, operational: true },
    handler
  })
}
