import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { Duplex } from 'node:stream'
import { type ErrorResponse, reasonPhraseOf } from './error-response.ts'

/** Writes a response to a request that Fastify does not handle. An HTTP/1 response has `Connection: close`. */
export function writeResponse(
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
  { statusCode, headers, body }: ErrorResponse
): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const connection = request.httpVersionMajor === 1 ? { connection: 'close' } : {}
  // Both have these methods, with incompatible overloads.
  const writable = response as ServerResponse
  writable.writeHead(statusCode, { ...headers, ...connection, 'content-length': Buffer.byteLength(body) })
  writable.end(body)
}

/** Writes an HTTP/1.1 response directly to a socket, and closes the socket. Does nothing after a response that closes it. */
export function writeSocket(socket: Duplex, { statusCode, headers, body }: ErrorResponse): void {
  if (!socket.writable) return
  // Node.js has removed its own listeners from some of these sockets, so a reset by the client would end the process.
  socket.on('error', () => socket.destroy())
  const head = { date: new Date().toUTCString(), connection: 'close', 'content-length': Buffer.byteLength(body), ...headers }
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${statusCode} ${reasonPhraseOf(statusCode)}\r\n${lines.join('')}\r\n${body}`)
  // Unread input would make the operating system send a reset that can overtake the response. A client that never closes must not keep the connection.
  socket.resume()
  setTimeout(() => socket.destroy(), 2000).unref()
}
