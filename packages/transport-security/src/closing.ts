import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { forEachServer, isClosing } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { whenNoneIsWaiting } from './last-connections.ts'

const sweepMs = 50
// A client that uses a connection that it opened while the service closed does so sooner, or has left it.
const unusedMs = 1000

// HTTP/2 servers do not have the last method.
type ClosingServer = Pick<Server, 'close' | 'listening'> & Partial<Pick<Server, 'closeIdleConnections'>>

/**
 * Makes `app.close()` finish with the last response, and reset no connection on which a request is on its way (decision 69).
 *
 * While `preClose` hooks delay closing, connections from before are closed after their response, which has `connection: close` (RFC 9112 §9.6); new
 * ones are kept, so that a proxy opens few when the server stops listening. From then on, every response has the header, idle connections are closed
 * as soon as no new one is left or after a second, and all connections after the limit.
 *
 * Returns the function that `onSend` calls for each response.
 */
export function endConnections(app: FastifyInstance, timeoutMs: number): (reply: FastifyReply) => void {
  const servers: ClosingServer[] = []
  const sockets = new Set<Socket>()
  const opened = new WeakSet<Socket>()
  const closeIdle: (() => void)[] = []
  let accepted = 0
  let stopsAt = 0
  let sweep: NodeJS.Timeout

  // A server that terminates TLS itself has two sockets for a connection, and its requests have the second.
  forEachServer(app, (server) => servers.push(server.on('connection', watch).on('secureConnection', watch)))
  closeTogether(servers, (stop) => {
    stopsAt = performance.now()
    whenNoneIsWaiting(
      () => accepted,
      () => {
        stop()
        closeUnused()
      }
    )
  })
  app.addHook('preClose', (done) => {
    for (const server of servers) keepIdle(server)
    // After input has been read, so that a connection whose request has arrived is not idle.
    sweep = setInterval(() => setImmediate(closeUnused), sweepMs).unref()
    done()
  })
  app.addHook('onClose', (_instance, done) => {
    clearInterval(sweep)
    done()
  })

  return (reply) => {
    if (!isClosing(app) || reply.request.raw.httpVersionMajor !== 1) return
    // Fastify has set the header. A client that asks for it gets it.
    if (app.server.listening && reply.raw.shouldKeepAlive && opened.has(reply.request.raw.socket)) reply.raw.removeHeader('connection')
    else reply.header('connection', 'close')
  }

  function watch(socket: Socket) {
    accepted += 1
    sockets.add(socket)
    if (isClosing(app)) opened.add(socket)
    socket.once('close', () => sockets.delete(socket))
  }

  // Node.js calls the method when it stops listening.
  function keepIdle(server: ClosingServer) {
    if (server.closeIdleConnections === undefined) return
    closeIdle.push(server.closeIdleConnections.bind(server))
    server.closeIdleConnections = () => {}
  }

  function closeUnused() {
    if (app.server.listening) return
    const waitedMs = performance.now() - stopsAt
    const isOver = waitedMs >= timeoutMs
    if (!isOver && waitedMs < unusedMs && [...sockets].some((socket) => socket.bytesRead === 0 || opened.has(socket))) return
    for (const close of closeIdle) close()
    for (const socket of sockets) if (isOver || socket.bytesRead === 0) socket.destroy()
  }
}

// Fastify waits for the first server only, and closes the others without waiting for their responses.
function closeTogether(servers: readonly ClosingServer[], whenToStop: (stop: () => void) => void) {
  const [first] = servers as [ClosingServer]
  const close = first.close.bind(first)
  first.close = (done) => {
    let open = servers.length
    let failure: Error | undefined
    const countDown = () => {
      open -= 1
      if (open === 0) done?.(failure)
    }
    const stop = () => {
      for (const server of servers.slice(1)) server.close(countDown)
      close((error) => {
        failure = error
        countDown()
      })
    }
    if (first.listening) whenToStop(stop)
    else stop()
    return first as Server
  }
}
