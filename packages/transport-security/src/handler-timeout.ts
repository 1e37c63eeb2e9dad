import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { handlerTimedOut } from './errors.ts'
import { WaitingReplies, waitingFields } from './waiting-replies.ts'

// A quarter of the time is precise enough for a limit, and a second for a long one.
const ticksPerTimeout = 4
const longestTickMilliseconds = 1000

/** Times the answers of a service. */
export interface HandlerClock {
  /** The time of this answer begins. */
  start(reply: FastifyReply): void
  /** It has been given, or somebody else times it. */
  stop(reply: FastifyReply): void
}

/**
 * Answers 503 where a handler, or any hook before it, has not answered in time, and aborts `request.signal`. A route's own
 * `handlerTimeout` replaces the limit. Once the answer is on its way, as a stream for example, it may take as long as it takes.
 */
export function limitHandlers(app: FastifyInstance, timeoutMilliseconds: number): HandlerClock {
  const tickMilliseconds = Math.min(timeoutMilliseconds / ticksPerTimeout, longestTickMilliseconds)
  const waiting = new WaitingReplies(Math.ceil(timeoutMilliseconds / tickMilliseconds) + 1)
  let timer: NodeJS.Timeout
  // A process may end while the timer runs, unless somebody waits for an answer. One that listens does not end anyhow.
  let listens = false

  for (const field of waitingFields) app.decorateReply(field, null)
  app.addHook('onReady', (done) => {
    timer = setInterval(answerLate, tickMilliseconds).unref()
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
    if (route.handlerTimeout !== undefined) route.onRequest = [leaveToFastify, ...[route.onRequest ?? []].flat()]
  })
  return { start, stop }

  function start(reply: FastifyReply) {
    if (!listens && waiting.isEmpty) timer.ref()
    waiting.add(reply)
  }

  function stop(reply: FastifyReply) {
    waiting.remove(reply)
    if (!listens && waiting.isEmpty) timer.unref()
  }

  function leaveToFastify(_request: FastifyRequest, reply: FastifyReply, done: () => void) {
    stop(reply)
    done()
  }

  function answerLate() {
    for (const reply of waiting.tick()) {
      if (reply.sent) continue
      // Fastify aborts request.signal when the request closes; the handler should stop now, although the client is still there.
      reply.request.raw.emit('close')
      if (reply.raw.headersSent) reply.raw.destroy()
      else if (!reply.sent) reply.send(handlerTimedOut())
    }
    if (waiting.isEmpty) timer.unref()
  }
}
