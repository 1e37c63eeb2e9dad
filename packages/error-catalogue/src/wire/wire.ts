import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { Server as TlsServer } from 'node:tls'
import { controlOf, inTurn, type ServerControl } from '@concordat/plugin-kit/server'
import { forEachServer, type HttpServer } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance } from 'fastify'
import { type ErrorResponse, factsOfRaw, type RequestFacts } from '../responses/error-response.ts'
import { writeResponse, writeSocket } from '../responses/raw-response.ts'
import { canRespond, codeOfWireError, headersOf, requestLineOf, type WireError } from './wire-failure.ts'

const { METHODS } = process.getBuiltinModule('node:http')

type RawRequest = IncomingMessage | Http2ServerRequest
type RawResponse = ServerResponse | Http2ServerResponse

// The keys of a connection for its newest response, and for the number of bytes read up to the end of its latest request.
const newest: unique symbol = Symbol('concordat.newestResponse')
const readBefore: unique symbol = Symbol('concordat.readBefore')
// The methods that routers can have. The parser also accepts those of RTSP, and HTTP/2 any text, for which Fastify runs no hooks.
const methods: ReadonlySet<string> = new Set(METHODS)
type Connection = Duplex & { [newest]?: ServerResponse | undefined; [readBefore]?: number | undefined }

type ResponseOf = (code: string, facts: RequestFacts, cause?: unknown) => ErrorResponse

/** The key of the instance property that contains the function that responds to bytes that are not HTTP. The plugin sets it. */
export const respondToBadBytes: unique symbol = Symbol('concordat.respondToBadBytes')

/**
 * Responds in the envelope to errors outside the Fastify hooks: server events, errors before routing, and, where Fastify would send 503 as soon as the
 * server closes (without the server options, `isSet`), requests to a closing server. On a server that the service has not made with the server options
 * of a package, it covers only the events that Node.js and Fastify leave to several listeners.
 */
export function installWire(app: FastifyInstance, responseOf: ResponseOf, isSet: boolean): void {
  const control = controlOf(app)
  if (control !== undefined) catchErrors(app, control, responseOf, isSet)
  const plainSockets = new Map<string, Socket>()
  const respondToBytes = clientErrors(responseOf, plainSockets)
  if (isSet) app.decorate(respondToBadBytes, respondToBytes)
  forEachServer(app, (server) => {
    trackPlainSockets(server, plainSockets)
    // Before the listener of Fastify, which then only closes the connection.
    if (!isSet) server.prependListener('clientError', respondToBytes)
    if (control === undefined) server.prependListener('request', remember)
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
      if (control === undefined) app.routing(request, response)
      else control.receive(request, response)
    })
    server.on('connect', (request: RawRequest, target: Duplex | RawResponse) => respondToConnect(responseOf, request, target))
    server.on('unknownProtocol', (socket: Duplex) => respondOnSocket(responseOf, 'HTTP_VERSION_NOT_SUPPORTED', socket))
  })
}

function clientErrors(responseOf: ResponseOf, plainSockets: ReadonlyMap<string, Socket>) {
  const refused = new WeakSet<Duplex>()
  return (error: WireError, socket: Duplex) => {
    // The parser reports an error again for each further packet.
    if (refused.has(socket)) return
    refused.add(socket)
    const plain = error.code === 'ERR_SSL_HTTP_REQUEST' ? plainSockets.get(nameOf(socket as Socket)) : undefined
    if (plain) return respondOnSocket(responseOf, 'HTTPS_REQUIRED', plain)
    respondToClientError(responseOf, inFlightOn(socket), error, socket)
  }
}

// Otherwise an error before routing, for example in a request id generator, would end the process.
function catchErrors(app: FastifyInstance, control: ServerControl, responseOf: ResponseOf, isSet: boolean) {
  let refuses = false
  if (!isSet) app.addHook('preClose', async () => void (refuses = true))
  const { receive, serve } = control
  control.receive = (request, response) => {
    remember(request, response)
    receive(request, response)
  }
  control.serve = (request, response) => {
    if (refuses) return respondRaw(responseOf, 'SERVICE_UNAVAILABLE', request, response)
    if (!methods.has(request.method as string)) return respondRaw(responseOf, 'METHOD_NOT_IMPLEMENTED', request, response)
    try {
      serve(request, response)
    } catch (error) {
      respondRaw(responseOf, 'INTERNAL_ERROR', request, response, error)
    }
  }
}

function remember(request: IncomingMessage, response: ServerResponse) {
  if (request.httpVersionMajor === 2) return
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
function trackPlainSockets(server: HttpServer, plainSockets: Map<string, Socket>) {
  if (!(server instanceof TlsServer)) return
  server.on('connection', (socket: Socket) => {
    const name = nameOf(socket)
    plainSockets.set(name, socket)
    socket.once('close', () => plainSockets.delete(name))
  })
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
