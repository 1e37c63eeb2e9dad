import { chain, stepHook } from '@concordat/request-steps'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { createError } from './errors.ts'

// A quarter of the limit is precise enough, and a second for a long limit.
const ticksPerTimeout = 4
const longestTickMs = 1000

/** Returns whether the body of a request has not arrived as a whole. */
export function isArriving({ raw }: FastifyRequest): boolean {
  // An injected request does not have the property.
  return (raw as Partial<typeof raw>).complete === false
}

/** Starts and stops the time limits of replies. */
export interface HandlerClock {
  /** Starts the time limit of a reply. */
  start(reply: FastifyReply): void
  /** Starts the time limit again, because the body has arrived. Does nothing if the limit was stopped. */
  restart(reply: FastifyReply): void
  /** Stops the time limit of a reply, because it has been sent or has another time limit. */
  stop(reply: FastifyReply): void
}

/**
 * Responds with 503 and aborts `request.signal` if neither the handler nor a hook before it has responded in time, and with 408 if the body has not
 * arrived in that time. The limit of the handler begins when the body is there. A route's own
 * `handlerTimeout` replaces the limit. A response that has begun, for example as a stream, has no time limit.
 */
export function limitHandlers(app: FastifyInstance, timeoutMs: number): HandlerClock {
  const tickMs = Math.min(timeoutMs / ticksPerTimeout, longestTickMs)
  const patience = Math.ceil(timeoutMs / tickMs) + 1
  // The replies that have not been sent, oldest first, with the tick at which they may wait no longer. All have the same limit, so a look at the
  // oldest shows whether any is late; a timer for each request takes a fifth of the time of a small one.
  const waiting = new Map<FastifyReply, number>()
  let ticks = 0
  let timer: NodeJS.Timeout
  // The timer keeps the process alive only while a response is pending. A process that listens stays alive anyway.
  let listens = false

  app.addHook('onReady', (done) => {
    timer = setInterval(respondLate, tickMs).unref()
    done()
  })
  app.addHook('onListen', (done) => {
    listens = true
    timer.unref()
    done()
  })
  app.addHook('onClose', (_instance, done) => {
    clearInterval(timer)
    done()
  })
  app.addHook('onRoute', (route: RouteOptions) => {
    if (route.handlerTimeout !== undefined) route.onRequest = chain('onRequest', leaveToFastify, route.onRequest)
  })
  const leaveToFastify = stepHook('onRequest', (_request, reply) => stop(reply))
  return { start, restart, stop }

  function start(reply: FastifyReply) {
    if (!listens && waiting.size === 0) timer.ref()
    waiting.set(reply, ticks + patience)
  }

  function restart(reply: FastifyReply) {
    if (waiting.delete(reply)) waiting.set(reply, ticks + patience)
  }

  function stop(reply: FastifyReply) {
    waiting.delete(reply)
    if (!listens && waiting.size === 0) timer.unref()
  }

  function respondLate() {
    ticks += 1
    for (const [reply, lastTick] of waiting) {
      if (lastTick > ticks) break
      waiting.delete(reply)
      respond(reply)
    }
    if (waiting.size === 0) timer.unref()
  }
}

function respond(reply: FastifyReply) {
  if (reply.sent) return
  // Fastify aborts request.signal when the request closes. The handler should stop now, although the client is still connected. The signal is
  // created at its first use, which may come later.
  void reply.request.signal
  reply.request.raw.emit('close')
  if (reply.raw.headersSent) reply.raw.destroy()
  else if (reply.sent) return
  // Node.js cannot find the next request on a connection whose body is incomplete.
  else if (isArriving(reply.request)) reply.send(createError('REQUEST_TIMEOUT', { connection: 'close' }))
  else reply.send(createError('HANDLER_TIMEOUT', { 'retry-after': '5' }))
}
