import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { Server as TlsServer } from 'node:tls'
import { forEachServer, inTurn } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance } from 'fastify'
import { type ErrorResponse, factsOfRaw, type RequestFacts } from './error-response.ts'
import { writeResponse, writeSocket } from './raw-response.ts'
import { canRespond, codeOfWireError, headersOf, requestLineOf, type WireError } from './wire-failure.ts'

const { METHODS } = process.getBuiltinModule('node:http')

type RawRequest = IncomingMessage | Http2ServerRequest
type RawResponse = ServerResponse | Http2ServerResponse
type Listener = (request: RawRequest, response: RawResponse) => void

// The keys of a connection for its newest response, and for the number of bytes read up to the end of its latest request.
const newest: unique symbol = Symbol('concordat.newestResponse')
const readBefore: unique symbol = Symbol('concordat.readBefore')
// The methods that routers can have. The parser also accepts those of RTSP, and HTTP/2 any text, for which Fastify runs no hooks.
const methods: ReadonlySet<string> = new Set(METHODS)
type Connection = Duplex & { [newest]?: ServerResponse | undefined; [readBefore]?: number | undefined }

type ResponseOf = (code: string, facts: RequestFacts, cause?: unknown) => ErrorResponse

/**
 * Responds in the envelope to errors outside the Fastify hooks: server events, errors before routing, and, where Fastify would send 503 as soon as the
 * server closes (`refusesWhileClosing`), requests to a closing server.
 */
export function installWire(app: FastifyInstance, responseOf: ResponseOf, refusesWhileClosing: boolean): void {
  let closing = false
  app.addHook('preClose', async () => void (closing = refusesWhileClosing))
  forEachServer(app, (server) => attachTo(server, responseOf, () => closing))
}

function attachTo(server: Server & { requireHostHeader?: boolean | undefined }, responseOf: ResponseOf, refuses: () => boolean) {
  // For a missing Host Node.js would send an empty 400. The first hook sends it in the envelope (RFC 9112 §3.2).
  server.requireHostHeader = false
  trackResponses(responseOf, server, refuses)
  const plainSockets = trackPlainSockets(server)
  const refused = new WeakSet<Duplex>()
  server.removeAllListeners('clientError')
  server.on('clientError', (error: WireError, socket: Duplex) => {
    // The parser reports an error again for each further packet.
    if (refused.has(socket)) return
    refused.add(socket)
    const plain = error.code === 'ERR_SSL_HTTP_REQUEST' ? plainSockets.get(nameOf(socket as Socket)) : undefined
    if (plain) return respondOnSocket(responseOf, 'HTTPS_REQUIRED', plain)
    respondToClientError(responseOf, inFlightOn(socket), error, socket)
  })
  server.on('timeout', (socket: Socket) => {
    const isIdle = (socket.bytesRead ?? 0) === ((socket as Connection)[readBefore] ?? 0)
    respondOnIdleSocket(responseOf, inFlightOn(socket), socket, isIdle)
  })
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    remember(request, response)
    respondRaw(responseOf, 'EXPECTATION_FAILED', request, response)
  })
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    continueWhenRead(request, response)
    server.emit('request', request, response)
  })
  server.on('connect', (request: RawRequest, target: Duplex | RawResponse) => respondToConnect(responseOf, request, target))
  server.on('unknownProtocol', (socket: Duplex) => respondOnSocket(responseOf, 'HTTP_VERSION_NOT_SUPPORTED', socket))
}

// Before all other listeners. Otherwise an error before routing, for example in a request id generator, would end the process.
function trackResponses(responseOf: ResponseOf, server: Server, refuses: () => boolean) {
  const listeners = server.listeners('request') as Listener[]
  server.removeAllListeners('request')
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request.httpVersionMajor === 2) return respond(request, response)
    remember(request, response)
    inTurn(response, () => respond(request, response))
  })

  function respond(request: IncomingMessage, response: ServerResponse) {
    if (refuses()) return respondRaw(responseOf, 'SERVICE_UNAVAILABLE', request, response)
    if (!methods.has(request.method as string)) return respondRaw(responseOf, 'METHOD_NOT_IMPLEMENTED', request, response)
    try {
      for (const listener of listeners) listener.call(server, request, response)
    } catch (error) {
      respondRaw(responseOf, 'INTERNAL_ERROR', request, response, error)
    }
  }
}

function remember(request: IncomingMessage, response: ServerResponse) {
  const connection: Connection = request.socket
  connection[newest] = response
  connection[readBefore] = request.socket.bytesRead
  // The body belongs to the same request. A request without a body has been read completely.
  if (!request.readableEnded) response.on('close', () => (connection[readBefore] = request.socket.bytesRead))
}

// With pipelining, an earlier response can be in flight too.
function inFlightOn(connection: Connection): ServerResponse | undefined {
  const response = connection[newest]
  return response?.closed ? undefined : response
}

// Plain HTTP on a TLS port gets its response on the socket below the TLS socket. Node.js does not connect the two, so the address of the client does.
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

function respondRaw(responseOf: ResponseOf, code: string, request: RawRequest, response: RawResponse, cause?: unknown): void {
  writeResponse(request, response, responseOf(code, factsOfRaw(request), cause))
}

function respondOnSocket(responseOf: ResponseOf, code: string, socket: Duplex, error: WireError = {}): void {
  writeSocket(socket, responseOf(code, { ...requestLineOf(error), headers: headersOf(error), origin: originOf(socket) }))
}

function respondToClientError(responseOf: ResponseOf, response: ServerResponse | undefined, error: WireError, socket: Duplex): void {
  if (!canRespond(error) || !socket.writable) {
    socket.destroy()
    return
  }
  const code = codeOfWireError(error)
  if (response === undefined) respondOnSocket(responseOf, code, socket, error)
  // The malformed bytes belong to a later, pipelined request, so the response to this request is sent first.
  else if (response.req.complete) response.once('close', () => respondOnSocket(responseOf, code, socket, error))
  else if (response.headersSent) socket.destroy()
  // The malformed bytes are the body of the request in flight, so this is its response.
  else inTurn(response, () => writeSocket(socket, responseOf(code, factsOfRaw(response.req))))
}

// HTTP/1 provides the socket, HTTP/2 the session. A connection without a request is closed without a response.
function respondOnIdleSocket(responseOf: ResponseOf, response: ServerResponse | undefined, socket: Socket, isIdle: boolean): void {
  if (response === undefined && !isIdle) return respondOnSocket(responseOf, 'REQUEST_TIMEOUT', socket)
  if (response === undefined || response.headersSent) {
    socket.destroy()
    return
  }
  // If the request is complete, the handler was too slow; otherwise the client was.
  const code = response.req.complete ? 'HANDLER_TIMEOUT' : 'REQUEST_TIMEOUT'
  writeSocket(socket, responseOf(code, factsOfRaw(response.req)))
}

// A client with `Expect: 100-continue` gets 100 only when its body is about to be read, and an error before that immediately (RFC 9110 §10.1.1).
function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  request.on('newListener', function goOn(event) {
    if (event !== 'data' && event !== 'readable') return
    request.off('newListener', goOn)
    if (!response.headersSent) response.writeContinue()
  })
}

// HTTP/1 provides the socket, HTTP/2 a response.
function respondToConnect(responseOf: ResponseOf, request: RawRequest, target: Duplex | RawResponse): void {
  if ('writeHead' in target) return respondRaw(responseOf, 'METHOD_NOT_IMPLEMENTED', request, target)
  const refusal = responseOf('METHOD_NOT_IMPLEMENTED', factsOfRaw(request))
  const before = inFlightOn(target)
  if (before === undefined) writeSocket(target, refusal)
  else before.once('close', () => writeSocket(target, refusal))
}

function originOf(socket: Duplex): RequestFacts['origin'] {
  return { protocol: 'encrypted' in socket ? 'https' : 'http', host: '', socket: socket as Socket }
}
