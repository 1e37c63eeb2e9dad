import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

const sweepMilliseconds = 50

/**
 * Lets `app.close()` end with the last answer. Node closes the connections that are idle when closing begins, and then waits for
 * all others however long they stay open, its own time limits switched off. Here every HTTP/1 answer from then on carries
 * `connection: close` (RFC 9112 §9.6), an answer that had begun before is swept up when it ends, a connection on which nothing was
 * sent is closed at once, and whatever is left after the limit is cut off.
 */
export function endConnections(app: FastifyInstance, timeoutMilliseconds: number): void {
  const server: Pick<Server, 'on'> & Partial<Pick<Server, 'closeIdleConnections'>> = app.server
  const sockets = new Set<Socket>()
  let closing = false
  let sweep: NodeJS.Timeout
  let limit: NodeJS.Timeout

  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  app.addHook('onSend', askToClose)
  app.addHook('preClose', (done) => {
    closing = true
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
    sweep = setInterval(() => server.closeIdleConnections?.(), sweepMilliseconds).unref()
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

  function askToClose(request: FastifyRequest, reply: FastifyReply, _payload: unknown, done: () => void) {
    if (closing && request.raw.httpVersionMajor === 1) reply.header('connection', 'close')
    done()
  }
}
