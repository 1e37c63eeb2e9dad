import type { FastifyReply } from 'fastify'
import { replyRefused } from '../connections/errors.ts'

const { validateHeaderValue } = process.getBuiltinModule('node:http')

const plain = /^[ -~]*$/

/** Returns whether the payload is complete, and not a stream. */
export function isWhole(payload: unknown): boolean {
  return payload === undefined || payload === null || typeof payload === 'string' || Buffer.isBuffer(payload)
}

/** Throws for a response that could fail after the commit, or that would still read from the transaction. */
export function requireWhole(reply: FastifyReply, payload: unknown): void {
  if (!isWhole(payload)) {
    throw replyRefused(
      'The response of a route with a transaction is a stream. Read it into memory, or remove the transaction from the route.'
    )
  }
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (typeof value === 'string' && plain.test(value)) continue
    for (const one of [value].flat()) if (one !== undefined) validateHeaderValue(name, String(one))
  }
}

/** Makes `reply.hijack` throw, because the end of a hijacked reply is unknown. */
export function refuseHijack(reply: FastifyReply): void {
  reply.hijack = () => {
    throw replyRefused('A reply of a route with a transaction was hijacked. Remove the transaction from the route.')
  }
}

/** Takes a snapshot of the reply before the handler, and returns the function that restores it for another run. */
export function snapshotOf(reply: FastifyReply): () => void {
  const { statusCode } = reply
  const before = reply.getHeaders()
  return () => {
    for (const name of Object.keys(reply.getHeaders())) reply.removeHeader(name)
    reply.headers(before)
    if (reply.statusCode !== statusCode) reply.code(statusCode)
  }
}
