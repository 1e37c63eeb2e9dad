import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { type Answer, type Asked, askedOfRaw } from './answer.ts'
import type { Catalogue, CatalogueEntry } from './catalogue.ts'
import { writeResponse, writeSocket } from './raw-answer.ts'
import { entryOfWireError, requestLineOf, type WireError } from './wire-failure.ts'

type RawRequest = IncomingMessage | Http2ServerRequest
type RawResponse = ServerResponse | Http2ServerResponse
type Listener = (request: RawRequest, response: RawResponse) => void

/** What the server's own events need to answer in the envelope. */
export interface Wire {
  readonly app: FastifyInstance
  readonly catalogue: Catalogue
  /** The answer with the constant headers and a request id, since no hook will add them. */
  readonly answerOf: (entry: CatalogueEntry, asked: Asked, cause?: unknown) => Answer
  /** The largest body that any route takes, in bytes. */
  readonly largestBody: () => number
}

/** Answers in the envelope what happens outside of Fastify's hooks: events of the server, throws before routing, closing. */
export function installWire(wire: Wire): void {
  const server: Server & { requireHostHeader?: boolean } = wire.app.server
  // Node would answer a missing Host with an empty 400; the first hook refuses it in the envelope (RFC 9112 §3.2).
  server.requireHostHeader = false
  const inFlight = trackResponses(wire, server)
  server.removeAllListeners('clientError')
  server.on('clientError', (error: WireError, socket: Duplex) => answerClientError(wire, inFlight, error, socket))
  server.on('timeout', (socket: Socket) => answerIdleSocket(wire, inFlight, socket))
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    answerRaw(wire, 'EXPECTATION_FAILED', request, response)
  )
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => continueOrRefuse(wire, server, request, response))
  server.on('connect', (request: RawRequest, socket: Duplex | RawResponse) => answerConnect(wire, request, socket))
  server.on('unknownProtocol', (socket: Duplex) => answerSocket(wire, 'HTTP_VERSION_NOT_SUPPORTED', socket))
}

// Every request passes here first: what throws before routing (a request id generator, a log serializer, a URL rewriter)
// would otherwise end the process, and a closing server would answer in Fastify's own words.
function trackResponses(wire: Wire, server: Server): WeakMap<Duplex, RawResponse> {
  const inFlight = new WeakMap<Duplex, RawResponse>()
  let closing = false
  wire.app.addHook('preClose', (done) => {
    closing = true
    done()
  })
  const listeners = server.listeners('request') as Listener[]
  server.removeAllListeners('request')
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    inFlight.set(request.socket, response)
    if (closing) return answerRaw(wire, 'SERVICE_UNAVAILABLE', request, response)
    try {
      for (const listener of listeners) listener.call(server, request, response)
    } catch (error) {
      answerRaw(wire, 'INTERNAL_ERROR', request, response, error)
    }
  })
  return inFlight
}

function answerRaw(wire: Wire, code: string, request: RawRequest, response: RawResponse, cause?: unknown): void {
  writeResponse(request, response, wire.answerOf(entryOf(wire, code), askedOfRaw(request), cause))
}

function answerSocket(wire: Wire, code: string, socket: Duplex, packet?: Buffer): void {
  writeSocket(socket, wire.answerOf(entryOf(wire, code), { ...requestLineOf(packet), headers: {}, origin: originOf(socket) }))
}

function answerClientError(wire: Wire, inFlight: WeakMap<Duplex, RawResponse>, error: WireError, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const { code } = entryOfWireError(error, wire.catalogue)
  const response = inFlight.get(socket) as ServerResponse | undefined
  if (response === undefined || response.writableFinished) return answerSocket(wire, code, socket, error.rawPacket)
  if (response.req.complete) {
    // The bad bytes belong to a later, pipelined request: the answer to this one goes first.
    response.once('close', () => answerSocket(wire, code, socket, error.rawPacket))
  } else if (response.headersSent) {
    socket.destroy()
  } else {
    // The bad bytes are the body of the request in flight: this is its answer.
    const asked = askedOfRaw(response.req)
    writeSocket(socket, wire.answerOf(entryOf(wire, code), asked))
  }
}

function answerIdleSocket(wire: Wire, inFlight: WeakMap<Duplex, RawResponse>, socket: Socket): void {
  const response = inFlight.get(socket) as ServerResponse | undefined
  if (response === undefined || response.headersSent) {
    socket.destroy()
    return
  }
  // A complete request that got no answer waited for us; an incomplete one kept us waiting.
  const code = response.req.complete ? 'HANDLER_TIMEOUT' : 'REQUEST_TIMEOUT'
  writeSocket(socket, wire.answerOf(entryOf(wire, code), askedOfRaw(response.req)))
}

// A client that asks before it uploads is told at once that its body is too large (RFC 9110 §10.1.1).
function continueOrRefuse(wire: Wire, server: Server, request: IncomingMessage, response: ServerResponse): void {
  if (Number(request.headers['content-length'] ?? 0) > wire.largestBody()) return answerRaw(wire, 'PAYLOAD_TOO_LARGE', request, response)
  response.writeContinue()
  server.emit('request', request, response)
}

// HTTP/1 hands over the socket, HTTP/2 a response.
function answerConnect(wire: Wire, request: RawRequest, target: Duplex | RawResponse): void {
  if ('writeHead' in target) return answerRaw(wire, 'METHOD_NOT_IMPLEMENTED', request, target)
  writeSocket(target, wire.answerOf(entryOf(wire, 'METHOD_NOT_IMPLEMENTED'), askedOfRaw(request)))
}

function entryOf(wire: Wire, code: string): CatalogueEntry {
  return wire.catalogue.find(code) as CatalogueEntry
}

function originOf(socket: Duplex): Asked['origin'] {
  return { protocol: 'encrypted' in socket ? 'https' : 'http', host: '', socket: socket as Socket }
}
