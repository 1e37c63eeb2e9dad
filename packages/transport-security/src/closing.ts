import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { forEachServer } from '@concordat/plugin-wiring'
import type { FastifyInstance, FastifyReply } from 'fastify'

const sweepMs = 50

// HTTP/2 servers do not have the last method.
type ClosingServer = Pick<Server, 'close'> & Partial<Pick<Server, 'closeIdleConnections'>>

/**
 * Makes `app.close()` finish with the last response. Node.js closes the connections that are idle when it stops listening, and then waits
 * for all others as long as they stay open, with its own time limits turned off. Here every HTTP/1 response has `connection: close` (RFC 9112
 * §9.6) as soon as closing begins. While other `preClose` hooks delay closing, requests are served, also on idle connections. From then on,
 * connections whose response has already begun are closed when it ends, connections that have not sent anything are closed at the first check, and
 * all remaining connections are closed after the limit. Only when all servers are closed do the `onClose` hooks run, which end what handlers use.
 *
 * Returns the function that `onSend` calls for each response.
 */
export function endConnections(app: FastifyInstance, timeoutMs: number): (reply: FastifyReply) => void {
  const servers: ClosingServer[] = []
  const sockets = new Set<Socket>()
  let closing = false
  let sweep: NodeJS.Timeout
  let endsAt = 0

  forEachServer(app, (server) => {
    servers.push(server)
    server.on('connection', (socket: Socket) => {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    })
  })
  closeTogether(servers)
  app.addHook('preClose', (done) => {
    closing = true
    endsAt = performance.now() + timeoutMs
    sweep = setInterval(closeIdle, sweepMs).unref()
    done()
  })
  app.addHook('onClose', (_instance, done) => {
    clearInterval(sweep)
    done()
  })

  return (reply) => {
    if (closing && reply.request.raw.httpVersionMajor === 1) reply.header('connection', 'close')
  }

  // Not immediately: the first request of a new connection may have arrived without having been read yet.
  function closeIdle() {
    if (app.server.listening) return
    const isOver = performance.now() >= endsAt
    for (const server of servers) server.closeIdleConnections?.()
    for (const socket of sockets) if (isOver || socket.bytesRead === 0) socket.destroy()
  }
}

// Fastify waits for the first server only, and closes the others without waiting for their responses.
function closeTogether(servers: readonly ClosingServer[]) {
  const [first] = servers as [ClosingServer]
  const close = first.close.bind(first)
  first.close = (done) => {
    let open = servers.length
    let failure: Error | undefined
    const countDown = () => {
      open -= 1
      if (open === 0) done?.(failure)
    }
    for (const server of servers.slice(1)) server.close(countDown)
    return close((error) => {
      failure = error
      countDown()
    })
  }
}
