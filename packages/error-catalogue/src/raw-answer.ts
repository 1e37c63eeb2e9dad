import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { Duplex } from 'node:stream'
import type { Answer } from './answer.ts'
import { reasonPhraseOf } from './reason-phrase.ts'

/** How long a client may take to read the last answer on a connection, before the connection is cut. */
const lingerMilliseconds = 2000

/** Writes an answer to a response that Fastify does not handle, and asks an HTTP/1 client to close the connection. */
export function writeResponse(
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
  { statusCode, headers, body }: Answer
): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const connection = request.httpVersionMajor === 1 ? { connection: 'close' } : {}
  // Http2ServerResponse and ServerResponse have the same method with incompatible overloads.
  const writable = response as ServerResponse
  writable.writeHead(statusCode, { ...headers, ...connection, 'content-length': Buffer.byteLength(body) })
  writable.end(body)
}

/** Writes an answer as HTTP/1.1 bytes to a connection whose request never became one, and closes it. */
export function writeSocket(socket: Duplex, { statusCode, headers, body }: Answer): void {
  // Node has taken its own listeners off some of these sockets, and a reset by the client would end the process.
  socket.on('error', () => socket.destroy())
  const head = { date: new Date().toUTCString(), connection: 'close', 'content-length': Buffer.byteLength(body), ...headers }
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${statusCode} ${reasonPhraseOf(statusCode)}\r\n${lines.join('')}\r\n${body}`)
  // What still arrives is read and thrown away, or the system would answer it with a reset that overtakes the answer.
  // Without a limit, a client that never closes would hold the connection for ever.
  socket.resume()
  setTimeout(() => socket.destroy(), lingerMilliseconds).unref()
}
