// The server of a service. What needs more of the server than Fastify gives its plugins is in this file (decision 145).
import dns from 'node:dns'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
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

// Registered, so that two copies of this module find the same control.
const controlKey: unique symbol = Symbol.for('concordat.serverControl') as never

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
  const [emit, listen, close, unref] = [
    server.emit.bind(server) as (event: string, ...input: unknown[]) => boolean,
    server.listen.bind(server) as (options: ListenOptions) => Server,
    server.close.bind(server),
    server.unref.bind(server)
  ]
  const further: NetServer[] = []
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
  // Fastify opens no further servers beside one that a factory made.
  server.listen = ((given: ListenOptions) => {
    const { refusal } = control
    if (refusal !== undefined) {
      process.nextTick(() => emit('error', refusal))
      return server
    }
    if (given.host !== 'localhost') return listen(given)
    // Before the server listens, so that all addresses accept connections when Fastify is informed.
    dns.lookup('localhost', { all: true }, (error, found) => {
      server.prependOnceListener('listening', () => further.push(...furtherAddresses(server, error ? [] : found)))
      listen(given)
    })
    return server
  }) as Server['listen']
  server.close = (done) => {
    let [open, failure] = [1 + further.length, undefined as Error | undefined]
    const countDown = () => {
      open -= 1
      if (open === 0) done?.(failure)
    }
    const stop = () => {
      for (const one of further) one.close(countDown)
      close((error) => {
        failure = error
        countDown()
      })
    }
    control.beforeClose(stop)
    return server
  }
  // Node.js calls it when the server stops listening, and so does Fastify. A request may be on its way on such a connection.
  const closeIdle = (server as Partial<Server>).closeIdleConnections?.bind(server)
  if (closeIdle !== undefined) server.closeIdleConnections = () => (control.keepsIdle ? undefined : closeIdle())
  server.unref = () => {
    for (const one of further) one.unref()
    return unref()
  }
  return Object.defineProperty(server, controlKey, { value: control }) as never
}

// Fastify applies these options to the servers that it makes itself.
function nodeServer(options: ServerOptions): Server {
  const { keepAliveTimeout, requestTimeout, connectionTimeout = 0, maxRequestsPerSocket = 0 } = options
  const tls = options.https === true ? {} : options.https
  // For a missing Host, Node.js would send an empty 400. The first hook refuses it (RFC 9112 §3.2).
  const own = { requireHostHeader: false, ...options.http, ...tls }
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
