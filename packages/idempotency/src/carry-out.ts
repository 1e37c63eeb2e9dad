import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * Runs a handler of any form and answers what Fastify is to send. A handler that the client has left goes on to its end, and what it
 * answers passes the onSend hooks all the same.
 */
export async function carryOut(request: FastifyRequest, reply: FastifyReply, handle: () => unknown): Promise<unknown> {
  const result = handle() as PromiseLike<unknown> | undefined
  // It calls reply.send itself, some time.
  if (result === undefined) return never()
  try {
    const payload = await result
    // To a client that is gone Fastify sends nothing where nothing was returned.
    if (payload === undefined && request.raw.destroyed && !reply.sent) reply.send(undefined)
    return payload
  } catch (error) {
    // `return reply` fails when the client leaves, while the handler has yet to call reply.send.
    if ((error as { code?: unknown } | undefined)?.code === 'ERR_STREAM_PREMATURE_CLOSE' && reply.raw.closed) return never()
    throw error
  }
}

/** What a handler answers that sends by itself. Each its own: who waits for one stays in memory as long as it does. */
export function never(): Promise<never> {
  return new Promise(() => {})
}
