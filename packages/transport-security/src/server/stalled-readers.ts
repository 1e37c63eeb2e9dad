import type { Socket } from 'node:net'
import { queuedBytesOf } from '@concordat/plugin-kit/server'
import { forEachServer } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance } from 'fastify'

// A quarter of the limit is precise enough, and a second for a long limit.
const ticksPerTimeout = 4
const longestTickMs = 1000

/** How much of what the service wrote to a connection has been sent, and when this last changed. */
interface Progress {
  completedBytes: number
  queuedBytes: number
  changedAt: number
}

/**
 * Resets each connection on which nothing could be sent for the limit, although a response is pending: its client does not read. Otherwise, the
 * response would be in memory for as long as the client keeps the connection open, and after a close without a reset, the system would still store
 * megabytes of it. A client that reads slowly is not affected, nor is a connection on which the service has nothing to send.
 */
export function resetStalledReaders(app: FastifyInstance, timeoutMs: number): void {
  const connections = new Map<Socket, Progress>()
  // Also over TLS and HTTP/2 these are the sockets to which the system writes.
  forEachServer(app, (server) =>
    server.on('connection', (socket: Socket) => {
      connections.set(socket, { completedBytes: 0, queuedBytes: 0, changedAt: performance.now() })
      socket.once('close', () => connections.delete(socket))
    })
  )
  const timer = setInterval(resetStalled, Math.min(timeoutMs / ticksPerTimeout, longestTickMs)).unref()
  app.addHook('onClose', (_instance, done) => {
    clearInterval(timer)
    done()
  })

  function resetStalled() {
    const now = performance.now()
    for (const [socket, progress] of connections) {
      if (hasNothingToSend(socket) || progresses(socket, progress)) progress.changedAt = now
      else if (now - progress.changedAt >= timeoutMs) reset(socket)
    }
  }
}

// TLS and HTTP/2 write past the socket.
function hasNothingToSend(socket: Socket) {
  return socket.writableLength === 0 && queuedBytesOf(socket) === 0
}

/**
 * Returns whether bytes were sent since the last call. What waits to be sent may grow meanwhile, so its size says nothing. A write completes as a
 * whole, which takes a slow client minutes for a large response. Only the handle has the bytes of the current write that are not sent yet
 * (decision 13).
 */
function progresses(socket: Socket, progress: Progress) {
  const completedBytes = socket.bytesWritten - socket.writableLength
  const queuedBytes = queuedBytesOf(socket)
  const isSent = completedBytes > progress.completedBytes || queuedBytes < progress.queuedBytes
  progress.completedBytes = completedBytes
  progress.queuedBytes = queuedBytes
  return isSent
}

function reset(socket: Socket) {
  try {
    socket.resetAndDestroy()
  } catch {
    // A Unix socket, or a stream of another server that terminates TLS.
    socket.destroy()
  }
}
