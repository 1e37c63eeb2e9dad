import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * With `optimizeEmptyRequests`, Node tells a request without a body nothing when its client leaves: its stream has ended
 * before it began. Fastify's `request.signal` and `onRequestAbort` listen to that stream, so they are told here.
 */
export function tellAborts(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  if (request.raw.readableEnded && request.raw.httpVersionMajor === 1) reply.raw.on('close', tellRequest)
  done()
}

function tellRequest(this: ServerResponse) {
  if (this.writableFinished) return
  const request: IncomingMessage & { aborted: boolean } = this.req
  request.aborted = true
  request.emit('close')
}
