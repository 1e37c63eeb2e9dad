import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { Server as TlsServer } from 'node:tls'
import type { FastifyInstance } from 'fastify'
import { type Answer, type Asked, askedOfRaw } from './answer.ts'
import { writeResponse, writeSocket } from './raw-answer.ts'
import { codeOfWireError, isAnswerable, requestLineOf, type WireError } from './wire-failure.ts'

type RawRequest = IncomingMessage | Http2ServerRequest
type RawResponse = ServerResponse | Http2ServerResponse
type Listener = (request: RawRequest, response: RawResponse) => void

/** On each connection: its newest response, and how much it had sent when that one's request was read. */
const newest: unique symbol = Symbol('concordat.newestResponse')
const readBefore: unique symbol = Symbol('concordat.readBefore')
type Connection = Duplex & { [newest]?: ServerResponse; [readBefore]?: number }

/** What the server's own events need to answer in the envelope. */
export interface Wire {
  readonly app: FastifyInstance
  /** The answer with the constant headers and a request id, since no hook will add them. */
  readonly answerOf: (code: string, asked: Asked, cause?: unknown) => Answer
  readonly maxUriLength: number
}

/** Answers in the envelope what happens outside of Fastify's hooks: events of the server, throws before routing, closing. */
export function installWire(wire: Wire): void {
  const server: Server & { requireHostHeader?: boolean } = wire.app.server
  // Node would answer a missing Host with an empty 400; the first hook refuses it in the envelope (RFC 9112 §3.2).
  server.requireHostHeader = false
  trackResponses(wire, server)
  const plainSockets = trackPlainSockets(server)
  const refused = new WeakSet<Duplex>()
  server.removeAllListeners('clientError')
  server.on('clientError', (error: WireError, socket: Duplex) => {
    // The parser complains again about each further packet.
    if (refused.has(socket)) return
    refused.add(socket)
    const plain = error.code === 'ERR_SSL_HTTP_REQUEST' ? plainSockets.get(nameOf(socket as Socket)) : undefined
    if (plain) return answerSocket(wire, 'HTTPS_REQUIRED', plain)
    answerClientError(wire, inFlightOn(socket), error, socket)
  })
  server.on('timeout', (socket: Socket) => {
    const isIdle = (socket.bytesRead ?? 0) === ((socket as Connection)[readBefore] ?? 0)
    answerIdleSocket(wire, inFlightOn(socket), socket, isIdle)
  })
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    answerRaw(wire, 'EXPECTATION_FAILED', request, response)
  )
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    continueWhenRead(request, response)
    server.emit('request', request, response)
  })
  server.on('connect', (request: RawRequest, target: Duplex | RawResponse) => answerConnect(wire, request, target))
  server.on('unknownProtocol', (socket: Duplex) => answerSocket(wire, 'HTTP_VERSION_NOT_SUPPORTED', socket))
}

// Every request passes here first: what throws before routing (a request id generator, a log serializer, a URL rewriter)
// would otherwise end the process, and a closing server would answer in Fastify's own words.
function trackResponses(wire: Wire, server: Server) {
  let closing = false
  wire.app.addHook('preClose', (done) => {
    closing = true
    done()
  })
  const listeners = server.listeners('request') as Listener[]
  server.removeAllListeners('request')
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request.httpVersionMajor !== 2) {
      const connection: Connection = request.socket
      connection[newest] = response
      connection[readBefore] = request.socket.bytesRead
      // Its body is part of the same request; a request without one has been read as a whole.
      if (!request.readableEnded) response.on('close', rememberRead)
    }
    if (closing) return answerRaw(wire, 'SERVICE_UNAVAILABLE', request, response)
    try {
      for (const listener of listeners) listener.call(server, request, response)
    } catch (error) {
      answerRaw(wire, 'INTERNAL_ERROR', request, response, error)
    }
  })
}

function rememberRead(this: ServerResponse) {
  const { socket } = this.req
  ;(socket as Connection)[readBefore] = socket.bytesRead
}

// With pipelining, an earlier one may be in flight too: Node sends them in order.
function inFlightOn(connection: Connection): ServerResponse | undefined {
  const response = connection[newest]
  return response?.closed ? undefined : response
}

// A client that speaks plain HTTP to a TLS port can be answered only on the socket below the TLS one. Node does not lead from
// one to the other, so they are brought together by the address of the client.
function trackPlainSockets(server: Server): Map<string, Socket> {
  const sockets = new Map<string, Socket>()
  if (!(server instanceof TlsServer)) return sockets
  server.on('connection', (socket: Socket) => {
    const name = nameOf(socket)
    sockets.set(name, socket)
    socket.once('close', () => sockets.delete(name))
  })
  return sockets
}

function nameOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}

function answerRaw(wire: Wire, code: string, request: RawRequest, response: RawResponse, cause?: unknown): void {
  writeResponse(request, response, wire.answerOf(code, askedOfRaw(request), cause))
}

function answerSocket(wire: Wire, code: string, socket: Duplex, error: WireError = {}): void {
  writeSocket(socket, wire.answerOf(code, { ...requestLineOf(error), headers: {}, origin: originOf(socket) }))
}

function answerClientError(wire: Wire, response: ServerResponse | undefined, error: WireError, socket: Duplex): void {
  if (!isAnswerable(error) || !socket.writable) {
    socket.destroy()
    return
  }
  const code = codeOfWireError(error, wire.maxUriLength)
  if (response === undefined) answerSocket(wire, code, socket, error)
  // The bad bytes belong to a later, pipelined request: the answer to this one goes first.
  else if (response.req.complete) response.once('close', () => answerSocket(wire, code, socket, error))
  else if (response.headersSent) socket.destroy()
  // The bad bytes are the body of the request in flight: this is its answer.
  else writeSocket(socket, wire.answerOf(code, askedOfRaw(response.req)))
}

// HTTP/1 gives the socket, HTTP/2 the session; a connection that asked for nothing ends without a word.
function answerIdleSocket(wire: Wire, response: ServerResponse | undefined, socket: Socket, isIdle: boolean): void {
  if (response === undefined && !isIdle) return answerSocket(wire, 'REQUEST_TIMEOUT', socket)
  if (response === undefined || response.headersSent) {
    socket.destroy()
    return
  }
  // A complete request that got no answer waited for us; an incomplete one kept us waiting.
  const code = response.req.complete ? 'HANDLER_TIMEOUT' : 'REQUEST_TIMEOUT'
  writeSocket(socket, wire.answerOf(code, askedOfRaw(response.req)))
}

// A client that asks before it uploads is told to go on when its body is about to be read: what hooks, router or limits
// refuse is answered at once (RFC 9110 §10.1.1). Node ends such a connection, since the client may still send the body or not.
function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  request.on('newListener', function goOn(event) {
    if (event !== 'data' && event !== 'readable') return
    request.off('newListener', goOn)
    if (!response.headersSent) response.writeContinue()
  })
}

// HTTP/1 hands over the socket, HTTP/2 a response.
function answerConnect(wire: Wire, request: RawRequest, target: Duplex | RawResponse): void {
  if ('writeHead' in target) return answerRaw(wire, 'METHOD_NOT_IMPLEMENTED', request, target)
  const answer = wire.answerOf('METHOD_NOT_IMPLEMENTED', askedOfRaw(request))
  const before = inFlightOn(target)
  if (before === undefined) writeSocket(target, answer)
  else before.once('close', () => writeSocket(target, answer))
}

function originOf(socket: Duplex): Asked['origin'] {
  return { protocol: 'encrypted' in socket ? 'https' : 'http', host: '', socket: socket as Socket }
}
