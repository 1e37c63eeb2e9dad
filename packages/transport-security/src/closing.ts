import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply } from 'fastify'

const sweepMilliseconds = 50

/**
 * Lets `app.close()` end with the last answer. Node closes the connections that are idle when closing begins, and then waits for
 * all others however long they stay open, its own time limits switched off. Here every HTTP/1 answer from then on carries
 * `connection: close` (RFC 9112 §9.6), connections whose answer had begun before are closed when it ends, those on which nothing
 * was sent at the first look, and whatever is left after the limit is cut off.
 *
 * Returns what onSend calls for each answer.
 */
export function endConnections(app: FastifyInstance, timeoutMilliseconds: number): (reply: FastifyReply) => void {
  const server: Pick<Server, 'on'> & Partial<Pick<Server, 'closeIdleConnections'>> = app.server
  const sockets = new Set<Socket>()
  let closing = false
  let sweep: NodeJS.Timeout
  let limit: NodeJS.Timeout

  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  app.addHook('preClose', (done) => {
    closing = true
    sweep = setInterval(closeIdle, sweepMilliseconds).unref()
    limit = setTimeout(() => {
      for (const socket of sockets) socket.destroy()
    }, timeoutMilliseconds).unref()
    done()
  })
  app.addHook('onClose', (_instance, done) => {
    clearInterval(sweep)
    clearTimeout(limit)
    done()
  })

  return (reply) => {
    if (closing && reply.request.raw.httpVersionMajor === 1) reply.header('connection', 'close')
  }

  // Not at once: the first request of a new connection may have arrived and not been read.
  function closeIdle() {
    server.closeIdleConnections?.()
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
  }
}
