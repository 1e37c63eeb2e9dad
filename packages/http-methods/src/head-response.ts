import type { FastifyInstance, FastifyReply, FastifyRequest, onSendHookHandler, RouteOptions } from 'fastify'

/**
 * Runs the hook of Fastify that removes the body of a response to HEAD after all other `onSend` hooks of a route, so that they set the same headers
 * as for GET (RFC 9110 §9.3.2, rule M7). An `onRoute` hook for routes that are added before the plugin, which does this for all others.
 */
export function removeBodyLast(app: FastifyInstance, route: RouteOptions): void {
  if (route.method !== 'HEAD') return
  // Once the other plugins have added their hooks.
  app.after(() => {
    const hooks = [route.onSend ?? []].flat() as onSendHookHandler[]
    const remove = hooks.find(({ name }) => name === 'headRouteOnSendHandler')
    if (remove !== undefined) route.onSend = [...hooks.filter((hook) => hook !== remove), skippingNull(remove)]
  })
}

// The hook of Fastify expects a body. Without one, GET has a length of 0, except where the status code excludes a length (RFC 9110 §8.6).
function skippingNull(remove: onSendHookHandler): onSendHookHandler {
  return function removeBody(this: FastifyInstance, request: FastifyRequest, reply: FastifyReply, payload, next) {
    if (payload !== null) return remove.call(this, request, reply, payload, withoutLength)
    if (reply.statusCode !== 204 && reply.statusCode !== 304) reply.header('content-length', '0')
    next(null, null)

    function withoutLength() {
      if (reply.statusCode === 204) reply.removeHeader('content-type').removeHeader('content-length')
      next(null, null)
    }
  }
}
