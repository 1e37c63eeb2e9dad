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

/** The options of `Fastify({...})` that a server reads. */
export interface ServerFactoryOptions extends Omit<FastifyServerOptions, 'serverFactory'> {
  readonly http?: object | null
  readonly https?: object | boolean | null
  readonly http2?: boolean
  readonly http2SessionTimeout?: number
}

/** What plugins know of a server that {@link serverFactory} made, and change on it. They wrap its functions. */
export interface ServerControl {
  /** The options of `Fastify({...})`. */
  readonly options: ServerFactoryOptions
  /** Called for each request when it arrives. */
  receive: Receive
  /** Called for each request when it is its turn ({@link inTurn}): calls the listeners of the event `request`. */
  serve: Receive
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
    serve: (request, response) => void emit('request', request, response)
  }
  // Around all listeners of requests, also those of others: an error of one would end the process.
  server.emit = (event: string, ...input: unknown[]) => {
    if (event !== 'request') return emit(event, ...input)
    control.receive(input[0] as IncomingMessage, input[1] as ServerResponse)
    return true
  }
  // Fastify opens no further servers beside one that a factory made.
  server.listen = ((given: ListenOptions) => {
    if (given.host !== 'localhost') return listen(given)
    // Before the server listens, so that all addresses accept connections when Fastify is informed.
    dns.lookup('localhost', { all: true }, (_error, found = []) => {
      server.prependOnceListener('listening', () => further.push(...furtherAddresses(server, found)))
      listen(given)
    })
    return server
  }) as Server['listen']
  server.close = (done) => {
    const closed = further.map((one) => new Promise((resolve) => one.close(resolve)))
    return close((error) => void Promise.all(closed).then(() => done?.(error)))
  }
  server.unref = () => {
    for (const one of further) one.unref()
    return unref()
  }
  return Object.defineProperty(server, controlKey, { value: control }) as never
}

// Fastify applies these options to the servers that it makes itself.
function nodeServer(options: ServerFactoryOptions): Server {
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

function http2Server(own: object, isSecure: boolean, { http2SessionTimeout = 0, forceCloseConnections }: ServerFactoryOptions) {
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
