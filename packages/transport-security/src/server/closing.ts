import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { controlOf, type ServerControl } from '@concordat/plugin-kit/server'
import { isClosing } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { whenNoneIsWaiting } from './last-connections.ts'

const sweepMs = 50
// A client that uses a connection that it opened while the service closed does so sooner, or has left it.
const unusedMs = 1000

/**
 * Makes `app.close()` finish with the last response, and reset no connection on which a request is on its way (decision 69).
 *
 * While `preClose` hooks delay closing, connections from before are closed after their response, which has `connection: close` (RFC 9112 §9.6); new
 * ones are kept, so that a proxy opens few when the server stops listening. From then on, every response has the header, idle connections are closed
 * as soon as no new one is left or after a second, and all connections after the limit. Does nothing on a server of another factory.
 *
 * Returns the function that `onSend` calls for each response.
 */
export function endConnections(app: FastifyInstance, timeoutMs: number): (reply: FastifyReply) => void {
  const { server } = app
  const control = controlOf(app)
  if (control === undefined) return () => {}
  const sockets = new Set<Socket>()
  const opened = new WeakSet<Socket>()
  let accepted = 0
  let stopsAt = 0
  let sweep: NodeJS.Timeout

  // A server that terminates TLS itself has two sockets for a connection, and its requests have the second.
  server.on('connection', watch).on('secureConnection', watch)
  control.beforeClose = (stop) => {
    stopsAt = performance.now()
    whenNoneIsWaiting(
      () => accepted,
      () => {
        stop()
        closeUnused()
      }
    )
  }
  app.addHook('preClose', (done) => {
    control.keepsIdle = true
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
    if (server.listening && reply.raw.shouldKeepAlive && opened.has(reply.request.raw.socket)) reply.raw.removeHeader('connection')
    else reply.header('connection', 'close')
  }

  function watch(socket: Socket) {
    accepted += 1
    sockets.add(socket)
    if (isClosing(app)) opened.add(socket)
    socket.once('close', () => sockets.delete(socket))
  }

  function closeUnused() {
    if (server.listening) return
    const waitedMs = performance.now() - stopsAt
    const isOver = waitedMs >= timeoutMs
    if (!isOver && waitedMs < unusedMs && [...sockets].some((socket) => socket.bytesRead === 0 || opened.has(socket))) return
    ;(control as ServerControl).keepsIdle = false
    // HTTP/2 servers do not have the method.
    ;(server as Partial<Server>).closeIdleConnections?.()
    for (const socket of sockets) if (isOver || socket.bytesRead === 0) socket.destroy()
  }
}
