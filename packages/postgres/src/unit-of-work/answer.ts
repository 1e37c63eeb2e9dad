import { validateHeaderValue } from 'node:http'
import type { FastifyReply } from 'fastify'
import { answerRefused } from '../errors.ts'

/** Refuses an answer that could still fail once the transaction is committed, or that would read from it then. */
export function requireWhole(reply: FastifyReply, payload: unknown): void {
  if (payload !== undefined && payload !== null && typeof payload !== 'string' && !Buffer.isBuffer(payload)) {
    throw answerRefused(
      'The answer of a route with a transaction is a stream. Read it into memory, or take the transaction from the route.'
    )
  }
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    for (const one of [value].flat()) if (one !== undefined) validateHeaderValue(name, String(one))
  }
}

/** A hijacked reply never says how it ended. */
export function refuseHijack(reply: FastifyReply): void {
  reply.hijack = () => {
    throw answerRefused('A reply of a route with a transaction was hijacked. Take the transaction from the route.')
  }
}

/** How a reply was before the handler, so that a second run finds it so. */
export function snapshotOf(reply: FastifyReply): () => void {
  const { statusCode } = reply
  const before = reply.getHeaders()
  return () => {
    for (const name of Object.keys(reply.getHeaders())) reply.removeHeader(name)
    reply.headers(before)
    if (reply.statusCode !== statusCode) reply.code(statusCode)
  }
}
