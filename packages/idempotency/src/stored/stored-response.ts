import { Readable } from 'node:stream'
import { contractOf } from '@concordat/plugin-kit/wiring'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { responseUnavailable } from '../errors.ts'
import type { StoredResponse } from './store.ts'

/** The header fields that are stored with a response, because they do not depend on the time or the client. Cookies are never stored. */
export const responseFields: readonly string[] = [
  'content-type',
  // Set by a handler that encodes its response. Plugins that compress responses do so later, also those of a replay.
  'content-encoding',
  'content-language',
  'content-location',
  'location',
  'etag',
  'last-modified',
  'link'
]

// These statuses are not final: the client may send the same request again with the same key.
const transientStatuses: ReadonlySet<number> = new Set([401, 403, 408, 412, 413, 415, 425, 428, 429])

/** Returns whether a response with this status code leaves the key free, because a retry may get a different response. */
export function isTransient(status: number, serverErrors: 'store' | 'release'): boolean {
  return transientStatuses.has(status) || (status >= 500 && serverErrors === 'release')
}

/** Returns the response that a reply is about to send, in the form in which it is stored. */
export function responseOf(reply: FastifyReply, payload: unknown, fields: readonly string[], maxBytes: number): StoredResponse {
  const headers: Record<string, string> = {}
  for (const name of fields) {
    const value = reply.getHeader(name)
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : String(value)
  }
  return { status: reply.statusCode, headers, body: bodyOf(payload, maxBytes) }
}

/** Returns whether the payload is in memory as a whole, and not a stream. */
export function isWhole(payload: unknown): boolean {
  return typeof payload === 'string' || payload instanceof Uint8Array
}

/** Returns the payload as it is stored: `null` for a stream, and for a body that is too large. */
export function bodyOf(payload: unknown, maxBytes: number): string | Uint8Array | null {
  if (payload === undefined || payload === null) return ''
  if (typeof payload === 'string') return fits(payload, maxBytes) ? payload : null
  return payload instanceof Uint8Array && payload.byteLength <= maxBytes ? payload : null
}

// A UTF-16 code unit takes at most three bytes in UTF-8.
function fits(text: string, maxBytes: number) {
  return text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes
}

/** The key of the request property that tells whether the response is a replay. Decorate requests with it and `false`. */
export const replayKey: unique symbol = Symbol('concordat.idempotency.replay')
type ReplayedRequest = FastifyRequest & { [replayKey]: boolean }

/** Returns whether the response to the request is a stored response. */
export function isReplay(request: FastifyRequest): boolean {
  return (request as ReplayedRequest)[replayKey]
}

/** Sets the stored status code and headers on the reply, and returns the stored body. Throws 409 when the body was not stored (rule I3). */
export function replay(reply: FastifyReply, { status, headers, body }: StoredResponse): string | Buffer | undefined {
  if (body === null) throw responseUnavailable(status, headers['location'])
  // The stored body is already serialized, so a serializer that a hook set for the handler's payload must not run on it.
  reply.code(status).headers(headers).header('idempotency-replayed', 'true').serializer(asItIs)
  ;(reply.request as ReplayedRequest)[replayKey] = true
  contractOf(reply.request.server, 'envelope')?.markReplayed(reply.request, reply)
  if (body.length === 0) return undefined
  return typeof body === 'string' ? body : Buffer.from(body)
}

function asItIs(payload: unknown) {
  return payload as string
}

/** Discards the handler's payload and headers, because another response is sent instead. */
export function discard(reply: FastifyReply, payload: unknown, fields: readonly string[]): void {
  if (payload instanceof Readable) payload.on('error', () => {}).destroy()
  for (const name of [...fields, 'content-length', 'set-cookie']) reply.removeHeader(name)
}
