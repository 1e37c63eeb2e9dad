// The server of a service. What needs more of the server than Fastify gives its plugins is in this file (decision 145).
import dns from 'node:dns'
import type { IncomingMessage, OutgoingHttpHeaders, Server, ServerResponse } from 'node:http'
import type { Http2ServerResponse } from 'node:http2'
import type { ListenOptions, Server as NetServer, Socket } from 'node:net'
import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import { inTurn } from './in-turn.ts'

const http = process.getBuiltinModule('node:http')
const https = process.getBuiltinModule('node:https')
const http2 = process.getBuiltinModule('node:http2')
const net = process.getBuiltinModule('node:net')

type Receive = (request: IncomingMessage, response: ServerResponse) => void

// The types of Fastify have these in the options of each kind of server.
interface ServerOptions extends FastifyServerOptions {
  readonly http?: object | null
  readonly https?: object | boolean | null
  readonly http2?: boolean
  readonly http2SessionTimeout?: number
}

/** What plugins know of a server that {@link serverFactory} made, and change on it. They wrap its functions. */
export interface ServerControl {
  /** The options of `Fastify({...})`. */
  readonly options: FastifyServerOptions
  /** Called for each request when it arrives. */
  receive: Receive
  /** Called for each request when it is its turn ({@link inTurn}): calls the listeners of the event `request`. */
  serve: Receive
  /** Called when the server is to close. It stops listening when the function that it gets is called. */
  beforeClose: (stop: () => void) => void
  /** Whether connections without a request stay open when the server stops listening. Node.js closes them otherwise. */
  keepsIdle: boolean
  /** The error with which the server refuses to listen. */
  refusal?: Error | undefined
}

/** Decides what of a response is sent. */
export interface ResponseGuard {
  /** Returns the status code with which the header section is sent now, or undefined to keep it back. */
  head(statusCode: number, headers: OutgoingHttpHeaders | undefined): number | undefined
  /** Returns whether a part of the body is sent. */
  sends(part: unknown): boolean
  /** Returns the last part of the body to send. */
  end(part: unknown): unknown
}

// Registered, so that two copies of this module find the same control.
const controlKey: unique symbol = Symbol.for('concordat.serverControl') as never
const guardKey: unique symbol = Symbol.for('concordat.responseGuard') as never
type Guarded = ServerResponse & { [guardKey]?: ResponseGuard | undefined }

/** Returns the control of the server of an instance, or undefined if {@link serverFactory} has not made the server. */
export function controlOf({ server }: FastifyInstance): ServerControl | undefined {
  return (server as typeof server & { readonly [controlKey]?: ServerControl })[controlKey]
}

/**
 * The `serverFactory` of Fastify's options for a server that plugins control. It is the server that Fastify would make for `http`, `https` and `http2`,
 * with these differences: the requests of each HTTP/1 connection are processed in turn, the options `http` apply to TLS too, and the plugins respond to
 * a missing Host.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the type of the server follows from the other options of Fastify
export function serverFactory<Made>(handler: (request: never, response: never) => void, options: object): Made {
  const server = nodeServer(options)
  server.on('request', handler as Receive)
  const emit = server.emit.bind(server) as (event: string, ...input: unknown[]) => boolean
  const control: ServerControl = {
    options,
    receive(request, response) {
      if (request.httpVersionMajor === 2) control.serve(request, response)
      else inTurn(response, () => control.serve(request, response))
    },
    serve: (request, response) => void emit('request', request, response),
    beforeClose: (stop) => stop(),
    keepsIdle: false
  }
  // Around all listeners of requests, also those of others: an error of one would end the process.
  server.emit = (event: string, ...input: unknown[]) => {
    if (event !== 'request') return emit(event, ...input)
    control.receive(input[0] as IncomingMessage, input[1] as ServerResponse)
    return true
  }
  // Node.js calls it when the server stops listening, and so does Fastify. A request may be on its way on such a connection.
  const closeIdle = (server as Partial<Server>).closeIdleConnections?.bind(server)
  if (closeIdle !== undefined) server.closeIdleConnections = () => (control.keepsIdle ? undefined : closeIdle())
  listenEverywhere(server, control)
  return Object.defineProperty(server, controlKey, { value: control }) as never
}

// Fastify opens no further servers for the addresses of `localhost` beside one that a factory made.
function listenEverywhere(server: Server, control: ServerControl) {
  const further: NetServer[] = []
  const listen = server.listen.bind(server) as (options: ListenOptions) => Server
  const [close, unref] = [server.close.bind(server), server.unref.bind(server)]
  server.listen = ((options: ListenOptions) => {
    const { refusal } = control
    if (refusal !== undefined) process.nextTick(() => server.emit('error', refusal))
    else if (options.host !== 'localhost') listen(options)
    // Before the server listens, so that all addresses accept connections when Fastify is informed.
    else
      dns.lookup('localhost', { all: true }, (error, found) => {
        server.prependOnceListener('listening', () => further.push(...furtherAddresses(server, error ? [] : found)))
        listen(options)
      })
    return server
  }) as Server['listen']
  server.close = (done) => {
    control.beforeClose(() => {
      let open = further.length + 1
      let failure: Error | undefined
      const countDown = () => {
        open -= 1
        if (open === 0) done?.(failure)
      }
      for (const one of further) one.close(countDown)
      close((error) => {
        failure = error
        countDown()
      })
    })
    return server
  }
  server.unref = () => {
    for (const one of further) one.unref()
    return unref()
  }
}

// Fastify applies these options to the servers that it makes itself.
function nodeServer(options: ServerOptions): Server {
  const { keepAliveTimeout, requestTimeout, connectionTimeout = 0, maxRequestsPerSocket = 0 } = options
  const tls = options.https === true ? {} : options.https
  // For a missing Host, Node.js would send an empty 400. The first hook refuses it (RFC 9112 §3.2).
  const own = { requireHostHeader: false, ...options.http, ...tls, ...responseClasses }
  if (options.http2) return http2Server(own, Boolean(tls), options).setTimeout(connectionTimeout)
  const server = tls ? https.createServer(own) : http.createServer(own)
  return Object.assign(server.setTimeout(connectionTimeout), {
    keepAliveTimeout,
    requestTimeout,
    ...(maxRequestsPerSocket > 0 && { maxRequestsPerSocket })
  })
}

function http2Server(own: object, isSecure: boolean, { http2SessionTimeout = 0, forceCloseConnections }: ServerOptions) {
  const server = isSecure ? http2.createSecureServer(own) : http2.createServer(own)
  const sessions = new Set<{ close(): void }>()
  server.on('session', (session) => {
    session.setTimeout(http2SessionTimeout, () => session.close())
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
  })
  // Fastify calls it. Since Node.js 24, a server that closes does it itself.
  const closeHttp2Sessions = () => sessions.forEach((session) => session.close())
  return Object.assign(server, forceCloseConnections === true && { closeHttp2Sessions }) as unknown as Server
}

/** Opens the further addresses of `localhost`, which hand their connections to the server. An address that is in use is left out, as by Fastify. */
function furtherAddresses(server: Server, found: readonly { readonly address: string }[]): NetServer[] {
  const first = server.address() as { readonly address: string; readonly port: number }
  const options = { noDelay: true, allowHalfOpen: server instanceof http.Server }
  const hosts = found.map(({ address }) => address).filter((address) => address !== first.address)
  return hosts.map((host) => {
    const further = net.createServer(options, (socket: Socket) => server.emit('connection', socket))
    return further.on('error', () => {}).listen({ host, port: first.port })
  })
}

class ServiceResponse extends http.ServerResponse {}
class ServiceHttp2Response extends http2.Http2ServerResponse {}
for (const { prototype } of [ServiceResponse, ServiceHttp2Response])
  Object.assign(prototype, { [guardKey]: undefined }, guardingMethods(prototype as ServerResponse))
const responseClasses = {
  ServerResponse: ServiceResponse,
  Http1ServerResponse: ServiceResponse,
  Http2ServerResponse: ServiceHttp2Response
}

function guardingMethods({ writeHead, write, end }: Record<'writeHead' | 'write' | 'end', Function>) {
  return {
    writeHead(this: Guarded, statusCode: number, reason?: unknown, headers: unknown = reason) {
      const guard = this[guardKey]
      if (guard === undefined) return writeHead.call(this, statusCode, reason, headers)
      const sent = guard.head(statusCode, headers as OutgoingHttpHeaders | undefined)
      return sent === undefined ? this : writeHead.call(this, sent, reason, headers)
    },
    write(this: Guarded, part: unknown, encoding?: unknown, done?: unknown) {
      return this[guardKey]?.sends(part) === false || write.call(this, part, encoding, done)
    },
    end(this: Guarded, part?: unknown, encoding?: unknown, done?: unknown) {
      const guard = this[guardKey]
      if (guard === undefined) return end.call(this, part, encoding, done)
      const last = guard.end(part)
      return end.call(this, last, last === part ? encoding : undefined, done)
    }
  }
}

/**
 * Sets or removes the guard of a response. The responses of a {@link serverFactory} have methods that read it. Others, such as those of injected
 * requests, get them here.
 */
export function guardResponse(response: ServerResponse | Http2ServerResponse, guard: ResponseGuard | undefined): void {
  const guarded = response as Guarded
  if (guard !== undefined && !(guardKey in response)) {
    const { writeHead, write, end } = guardingMethods(guarded) as unknown as Record<keyof typeof guarded, never>
    guarded.writeHead = writeHead
    guarded.write = write
    guarded.end = end
  }
  guarded[guardKey] = guard
}

/**
 * Makes a request of HTTP/1 emit `close` no more when its body is read (decision 14). Node.js has this setting only for the constructor. Without the
 * private property, requests behave as in Fastify alone.
 */
export function outliveBody(request: IncomingMessage): void {
  const state = Reflect.get(request, '_readableState') as { autoDestroy: boolean } | undefined
  if (state !== undefined) state.autoDestroy = false
}

/** Emits `close` of a request, by which Fastify aborts `request.signal`: nothing waits for the response any longer (decisions 13 and 14). */
export function emitClose(request: IncomingMessage): void {
  request.emit('close')
}

/**
 * Returns how many bytes of the current write to a connection the system has not taken yet (decision 13). Only the handle knows. Without the private
 * property, the number is 0.
 */
export function queuedBytesOf(socket: Socket): number {
  const handle = Reflect.get(socket, '_handle') as { readonly writeQueueSize?: number } | null | undefined
  return handle?.writeQueueSize ?? 0
}
