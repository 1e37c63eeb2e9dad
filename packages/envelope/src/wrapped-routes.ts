import { isOutside, type Route } from '@concordat/plugin-wiring'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { markEnveloped } from './timestamp-tail.ts'

/** Returns whether the successful responses of a route that is registered on `app` are in the envelope. */
export function wraps(app: FastifyInstance, route: Route): boolean {
  return route.config?.envelope !== false && !isOutside(app, route)
}

/** Marks a replayed response as already enveloped, unless its route does not use the envelope. */
export function markReplayed({ server, routeOptions }: FastifyRequest, reply: FastifyReply): void {
  if (wraps(server, routeOptions as Route)) markEnveloped(reply)
}
