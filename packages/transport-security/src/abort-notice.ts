import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

const unfinished: unique symbol = Symbol('concordat.unfinishedResponses')
const later: unique symbol = Symbol('concordat.laterResponse')

type Chained = ServerResponse & { [later]?: Chained | undefined }
type Connection = Socket & { [unfinished]?: { first: Chained; last: Chained } | undefined }

/**
 * Emits `close` on each request whose client disconnects before the response is complete. With `optimizeEmptyRequests`, Node.js does not emit
 * it on a request without a body, because its stream has already ended. Fastify's `request.signal` and `onRequestAbort` listen to it.
 *
 * One listener per connection serves all of its requests. Responses are sent in the order of the requests (RFC 9112 §9.3.2), so
 * there is one response to track, and a chain of them only while a client pipelines.
 */
export function followClient(request: IncomingMessage, response: Chained): void {
  if (!request.readableEnded || request.httpVersionMajor !== 1) return
  const connection: Connection = request.socket
  const open = connection[unfinished]
  if (open === undefined) {
    connection[unfinished] = { first: response, last: response }
    connection.once('close', reportUnfinished)
  } else if (open.last.writableFinished) {
    open.first = open.last = response
  } else {
    open.last[later] = response
    open.last = response
    while (open.first.writableFinished && open.first[later] !== undefined) open.first = open.first[later]
  }
}

function reportUnfinished(this: Connection) {
  for (let response = this[unfinished]?.first; response !== undefined; response = response[later]) {
    if (response.writableFinished) continue
    const request: IncomingMessage & { aborted: boolean } = response.req
    request.aborted = true
    request.emit('close')
  }
}
