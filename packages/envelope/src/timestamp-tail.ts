import type { FastifyReply } from 'fastify'

/** The key of the reply property that is true if the payload is in the envelope. */
export const enveloped: unique symbol = Symbol('concordat.enveloped')

/** A reply with the property that records whether its payload is in the envelope. */
export type EnvelopedReply = FastifyReply & { [enveloped]: boolean }

/** Marks the payload of a reply as already enveloped, for example the payload of a stored response that is replayed. */
export function markEnveloped(reply: FastifyReply): void {
  ;(reply as EnvelopedReply)[enveloped] = true
}

const start = '"timestamp":"'
const tailLength = start.length + new Date(0).toISOString().length + '"}}'.length

/**
 * Returns the number of characters at the end of a serialized response that change with the timestamp, or 0 if the response is not enveloped.
 * A validator that is computed over the other characters changes only with the resource. Takes constant time. Returns 0 for a body
 * that only looks like an envelope, because a change in its tail would not be detected.
 */
export function timestampTail(reply: FastifyReply, payload: string): number {
  const ends = (reply as EnvelopedReply)[enveloped] && payload.endsWith('"}}') && payload.startsWith(start, payload.length - tailLength)
  return ends ? tailLength : 0
}
