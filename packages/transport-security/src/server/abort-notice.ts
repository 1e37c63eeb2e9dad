import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { emitClose, outliveBody } from '@concordat/plugin-kit/server'

const latest: unique symbol = Symbol('concordat.latestResponse')

type Connection = Socket & { [latest]?: ServerResponse | undefined }

/**
 * Makes `close` of a request mean that its client left before the response was complete, as Fastify takes it (decision 14), and as over HTTP/2. Node.js
 * emits it as soon as the body is read, and never on a request without a body. One listener per connection serves all of its requests.
 */
export function followClient(request: IncomingMessage, response: ServerResponse): void {
  if (request.httpVersionMajor !== 1) return
  if (!request.readableEnded) outliveBody(request)
  const connection: Connection = request.socket
  if (connection[latest] === undefined) connection.once('close', reportUnfinished)
  connection[latest] = response
}

function reportUnfinished(this: Connection) {
  const response = this[latest] as ServerResponse
  if (response.writableFinished) return
  const request: IncomingMessage & { aborted: boolean } = response.req
  request.aborted = true
  // Node.js has begun to destroy the other requests, and emits it.
  if (request.closed) emitClose(request)
}
