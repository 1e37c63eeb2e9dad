import type { FastifyReply, FastifyRequest } from 'fastify'

const traceparent = /^00-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}$/

/**
 * Adds the trace id and the id of the caller's span to the later log lines of a request, from a `traceparent` header of version 00 (W3C Trace Context
 * §3.2). Anything else, also two headers, is ignored.
 */
export function logTrace(request: FastifyRequest, reply: FastifyReply): void {
  const header: unknown = request.headers['traceparent']
  const [, traceId, parentId] = typeof header === 'string' ? (traceparent.exec(header) ?? []) : []
  if (traceId !== undefined) request.log = reply.log = request.log.child({ traceId, parentId })
}
