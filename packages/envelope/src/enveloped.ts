import { isOutside, type Route } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** The key of the reply property that is true if the payload is in the envelope. */
export const enveloped: unique symbol = Symbol('concordat.enveloped')

/** A reply with the property that records whether its payload is in the envelope. */
export type EnvelopedReply = FastifyReply & { [enveloped]: boolean }

/** Returns whether the successful responses of a route that is registered on `app` are in the envelope. */
export function wraps(app: FastifyInstance, route: Route): boolean {
  return route.config?.envelope !== false && !isOutside(app, route)
}

/** Marks a replayed response as already enveloped, unless its route does not use the envelope. */
export function markReplayed({ server, routeOptions }: FastifyRequest, reply: FastifyReply): void {
  if (wraps(server, routeOptions as Route)) Object.assign(reply, { [enveloped]: true })
}
