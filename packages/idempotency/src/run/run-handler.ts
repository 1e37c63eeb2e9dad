import type { FastifyReply } from 'fastify'

/** Callbacks that report on the response of a handler while it runs. */
export interface ResponseWatch {
  /** Called when the handler has ended, unless it sends the response itself later. */
  ended(): void
  /** Returns whether the response has reached the hook that stores it. */
  isSettled(): boolean
  /** Called when the client has disconnected and it is unknown whether the handler will still send a response. */
  responseMissing(): void
  /** Called when the handler returned nothing to send: it sends the response itself later, or writes to `reply.raw` and bypasses every hook. */
  sendsItself(): void
}

/**
 * Runs a synchronous or asynchronous handler and returns the payload for Fastify to send. When the client disconnects, the handler still runs to
 * its end, and its response still passes through the onSend hooks.
 */
export async function runHandler(reply: FastifyReply, handle: () => unknown, watch?: ResponseWatch): Promise<unknown> {
  let result: unknown
  try {
    result = handle()
  } catch (error) {
    watch?.ended()
    throw error
  }
  if (result === undefined || result === reply) {
    watch?.sendsItself()
    return never()
  }
  const response = result as PromiseLike<unknown>
  let payload: unknown
  try {
    payload = await response
  } finally {
    watch?.ended()
    if (payload === undefined || reply.sent) watch?.sendsItself()
  }
  if (payload !== undefined) return payload
  // The handler called reply.send and returned undefined: Fastify would send that undefined while the response is being stored.
  if (watch?.isSettled()) return never()
  // Fastify does not send undefined to a client that has disconnected, and what is not sent is not stored. A reply that an async handler
  // returned also resolves to undefined as soon as the client disconnects.
  if (reply.raw.destroyed) {
    if (reply.statusCode === 204) reply.send(undefined)
    else watch?.responseMissing()
  }
  return undefined
}

/** Returns a promise that never settles, for a handler that sends its response itself. A shared one would retain its waiters. */
export function never(): Promise<never> {
  return new Promise(() => {})
}
