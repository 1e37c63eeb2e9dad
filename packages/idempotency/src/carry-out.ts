import type { FastifyReply } from 'fastify'

/** What is known of the answer of a handler while it runs. */
export interface AnswerWatch {
  /** Whether it has come to the hook that stores it. */
  isAnswered(): boolean
  /** The client is gone, and whether the handler will still answer can't be told. */
  unanswered(): void
  /** The handler gave nothing to send: it sends by itself, some time, or writes to the response and passes by every hook. */
  sendsItself(): void
}

/**
 * Runs a handler of any form and answers what Fastify is to send. A handler that the client has left goes on to its end, and its answer
 * passes the onSend hooks all the same.
 */
export async function carryOut(reply: FastifyReply, handle: () => unknown, watch?: AnswerWatch): Promise<unknown> {
  const result = handle()
  if (result === undefined || result === reply) {
    watch?.sendsItself()
    return never()
  }
  const answer = result as PromiseLike<unknown>
  let payload: unknown
  try {
    payload = await answer
  } finally {
    if (payload === undefined || reply.sent) watch?.sendsItself()
  }
  if (payload !== undefined) return payload
  // It has called reply.send and returns nothing: while the answer is being stored, Fastify would send that nothing.
  if (watch?.isAnswered()) return never()
  // To a client that is gone Fastify does not send nothing, and what is not sent is not stored. A reply that an async handler returned is
  // fulfilled with nothing too, as soon as the client leaves.
  if (reply.raw.destroyed) {
    if (reply.statusCode === 204) reply.send(undefined)
    else watch?.unanswered()
  }
  return undefined
}

/** What a handler answers that sends by itself. Each its own: who waits for one stays in memory as long as it does. */
export function never(): Promise<never> {
  return new Promise(() => {})
}
