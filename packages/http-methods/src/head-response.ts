import type { FastifyInstance, FastifyReply, FastifyRequest, onSendHookHandler, RouteOptions } from 'fastify'

type Next = (error: null, payload: unknown) => void
type Hook = onSendHookHandler

/**
 * Runs the hook that removes the body of a response to HEAD after all other `onSend` hooks of a route, so that they set the same headers
 * as for GET (RFC 9110 §9.3.2, rule M7). Fastify adds it to the HEAD route of each GET route, before the hooks of plugins. The plugin does
 * this for every route that is added after it; call it in an `onRoute` hook for routes that are added before.
 */
export function removeBodyLast(app: FastifyInstance, route: RouteOptions): void {
  if (route.method !== 'HEAD') return
  // Once the other plugins have added their hooks.
  app.after(() => {
    const remove = hooksOf(route).find(({ name }) => name === 'headRouteOnSendHandler')
    if (remove !== undefined) route.onSend = [...hooksOf(route).filter((hook) => hook !== remove), skippingNull(remove)]
  })
}

function hooksOf({ onSend }: RouteOptions): Hook[] {
  return [onSend ?? []].flat() as Hook[]
}

// The hook of Fastify expects a body. Without one, GET has a length of 0, except where the status code excludes a length (RFC 9110 §8.6).
function skippingNull(remove: Hook) {
  return function removeBody(this: FastifyInstance, request: FastifyRequest, reply: FastifyReply, payload: unknown, next: Next) {
    if (payload !== null) return remove.call(this, request, reply, payload, withoutLength)
    if (reply.statusCode !== 204 && reply.statusCode !== 304) reply.header('content-length', '0')
    next(null, null)

    function withoutLength() {
      if (reply.statusCode === 204) reply.removeHeader('content-type').removeHeader('content-length')
      next(null, null)
    }
  }
}
