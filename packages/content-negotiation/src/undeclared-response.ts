import { chooseMediaType, parseMediaType } from '@concordat/plugin-kit/accept'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { notAcceptable } from './errors.ts'

// What describes the representation that is not sent.
const representationHeaders = [
  'content-type',
  'content-length',
  'content-encoding',
  'content-disposition',
  'content-range',
  'etag',
  'last-modified'
]
const undecided = new WeakSet<FastifyRequest>()

/** Postpones the negotiation of a request without effects until its response, because its route does not declare the media type. */
export function awaitResponse(request: FastifyRequest): void {
  undecided.add(request)
}

/** Throws 406 if the negotiation was postponed, and the client does not accept the media type of the response (RFC 9110 §12.5.1, rule N2). */
export function requireAccepted(request: FastifyRequest, reply: FastifyReply, payload: unknown): void {
  if (!undecided.has(request) || reply.statusCode >= 300) return
  const sent = parseMediaType(String(reply.getHeader('content-type')))
  if (sent === undefined || chooseMediaType(request.headers.accept, [sent.essence]) !== undefined) return
  discard(payload)
  for (const name of representationHeaders) reply.removeHeader(name)
  throw notAcceptable([sent.essence])
}

// A stream that nobody reads would keep its file or its connection open.
function discard(payload: unknown) {
  if (payload instanceof ReadableStream) payload.cancel().catch(() => {})
  else (payload as { destroy?: () => void } | null)?.destroy?.()
}
