import { emitClose } from '@concordat/plugin-kit/server'
import { chain, stepHook } from '@concordat/plugin-kit/steps'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { createError } from '../errors.ts'

// A quarter of the limit is precise enough, and a second for a long limit.
const ticksPerTimeout = 4
const longestTickMs = 1000

const wait: unique symbol = Symbol('concordat.handlerWait')

/** A reply that has not been sent, its index in the list of these, and the tick at which it may wait no longer. */
interface Wait {
  readonly reply: WaitingReply
  place: number
  lastTick: number
}

type WaitingReply = FastifyReply & { [wait]?: Wait | undefined }

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
  // A timer for each request takes a fifth of the time of a small one. In a Map, all requests of the time would keep each other until the next full
  // garbage collection (decision 121).
  const waiting: Wait[] = []
  let ticks = 0
  let timer: NodeJS.Timeout
  // The timer keeps the process alive only while a response is pending. A process that listens stays alive anyway.
  let listens = false

  app.decorateReply(wait, undefined)
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

  function start(reply: WaitingReply) {
    if (!listens && waiting.length === 0) timer.ref()
    reply[wait] = { reply, place: waiting.length, lastTick: ticks + patience }
    waiting.push(reply[wait])
  }

  function restart(reply: WaitingReply) {
    if (reply[wait] !== undefined) reply[wait].lastTick = ticks + patience
  }

  function stop(reply: WaitingReply) {
    const own = reply[wait]
    if (own === undefined) return
    reply[wait] = undefined
    const last = waiting.pop() as Wait
    if (last !== own) waiting[own.place] = last
    last.place = own.place
    if (!listens && waiting.length === 0) timer.unref()
  }

  function respondLate() {
    ticks += 1
    // A copy, because a reply that is late leaves the list.
    for (const { reply, lastTick } of waiting.slice()) {
      if (lastTick > ticks || reply[wait] === undefined) continue
      stop(reply)
      respond(reply)
    }
  }
}

function respond(reply: FastifyReply) {
  if (reply.sent) return
  // Fastify aborts request.signal when the request closes. The handler should stop now, although the client is still connected. The signal is
  // created at its first use, which may come later.
  void reply.request.signal
  emitClose(reply.request.raw)
  if (reply.raw.headersSent) reply.raw.destroy()
  else if (reply.sent) return
  // Node.js cannot find the next request on a connection whose body is incomplete.
  else if (isArriving(reply.request)) reply.send(createError('REQUEST_TIMEOUT', { connection: 'close' }))
  else reply.send(createError('HANDLER_TIMEOUT', { 'retry-after': '5' }))
}
