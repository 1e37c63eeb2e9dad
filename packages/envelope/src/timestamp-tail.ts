import type { FastifyReply } from 'fastify'

/** On each reply: whether this package wrote the envelope around its payload. */
export const enveloped: unique symbol = Symbol('concordat.enveloped')

/** A reply of an application with the envelope. */
export type EnvelopedReply = FastifyReply & { [enveloped]: boolean }

/** Says that the payload of a reply is in the envelope already: that of an answer which was kept and is sent again. */
export function markEnveloped(reply: FastifyReply): void {
  ;(reply as EnvelopedReply)[enveloped] = true
}

const start = '"timestamp":"'
const tailLength = start.length + new Date(0).toISOString().length + '"}}'.length

/**
 * The number of trailing characters of a serialized answer that differ each time it is sent, or 0 when there are none.
 * A validator that is computed over the rest stays the same while the resource does. Constant time. It answers 0 for a body
 * that only looks like an envelope, because a change in such a tail would go unnoticed.
 */
export function timestampTail(reply: FastifyReply, payload: string): number {
  const ends = (reply as EnvelopedReply)[enveloped] && payload.endsWith('"}}') && payload.startsWith(start, payload.length - tailLength)
  return ends ? tailLength : 0
}
