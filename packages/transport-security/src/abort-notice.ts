import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

const unfinished: unique symbol = Symbol('concordat.unfinishedResponses')
const later: unique symbol = Symbol('concordat.laterResponse')

type Chained = ServerResponse & { [later]?: Chained | undefined }
type Connection = Socket & { [unfinished]?: { first: Chained; last: Chained } | undefined }

/**
 * Makes `close` of a request mean that its client left before the response was complete. Fastify's `request.signal`, `onRequestAbort` and
 * `handlerTimeout` take it for that. Node.js emits it as soon as the body is read, because it destroys a stream that has ended, and never
 * on a request without a body, whose stream has ended from the beginning with `optimizeEmptyRequests`. Over HTTP/2, it already has this
 * meaning.
 *
 * One listener per connection serves all of its requests. Responses are sent in the order of the requests (RFC 9112 §9.3.2), so
 * there is one response to track, and a chain of them only while a client pipelines.
 */
export function followClient(request: IncomingMessage, response: Chained): void {
  if (request.httpVersionMajor !== 1) return
  if (!request.readableEnded) outliveBody(request)
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

// Node.js has this setting only for the constructor. Requests over HTTP/2 and injected requests are created with it.
function outliveBody(request: IncomingMessage) {
  const state = Reflect.get(request, '_readableState') as { autoDestroy: boolean } | undefined
  if (state !== undefined) state.autoDestroy = false
}

function reportUnfinished(this: Connection) {
  for (let response = this[unfinished]?.first; response !== undefined; response = response[later]) {
    if (response.writableFinished) continue
    const request: IncomingMessage & { aborted: boolean } = response.req
    request.aborted = true
    // Node.js has begun to destroy the other requests, and emits it.
    if (request.closed) request.emit('close')
  }
}
