import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { responseUnavailable } from './errors.ts'
import type { StoredAnswer } from './store.ts'

/** The header fields that belong to an answer, and not to the moment or the client that it is sent to. Never a cookie. */
export const answerFields: readonly string[] = [
  'content-type',
  'content-language',
  'content-location',
  'location',
  'etag',
  'last-modified',
  'link'
]

// Nothing about the request is wrong for good: it may be sent again as it is, with the same key.
const transientStatuses: ReadonlySet<number> = new Set([401, 403, 408, 412, 413, 415, 425, 428, 429])

/** Whether an answer of this status leaves the key free: it says that nothing was done, and may be another next time. */
export function isTransient(status: number, serverErrors: 'store' | 'release'): boolean {
  return transientStatuses.has(status) || (status >= 500 && serverErrors === 'release')
}

/** What is kept of the answer that a reply is about to send. */
export function answerOf(reply: FastifyReply, payload: unknown, fields: readonly string[], maximumBytes: number): StoredAnswer {
  const headers: Record<string, string> = {}
  for (const name of fields) {
    const value = reply.getHeader(name)
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : String(value)
  }
  return { status: reply.statusCode, headers, body: bodyOf(payload, maximumBytes) }
}

function bodyOf(payload: unknown, maximumBytes: number): string | Uint8Array | null {
  if (payload === undefined || payload === null) return ''
  if (typeof payload === 'string') return fits(payload, maximumBytes) ? payload : null
  return payload instanceof Uint8Array && payload.byteLength <= maximumBytes ? payload : null
}

// No character takes more than three bytes for each of its units.
function fits(text: string, maximumBytes: number) {
  return text.length * 3 <= maximumBytes || Buffer.byteLength(text) <= maximumBytes
}

/** Makes the reply a replay, and answers its payload. Throws 409 when the body was not kept (rule I3). */
export function replay(reply: FastifyReply, { status, headers, body }: StoredAnswer): string | Buffer | undefined {
  if (body === null) throw responseUnavailable(status, headers['location'])
  // What a hook has set to serialize the handler's answer is not for one that is text already.
  reply.code(status).headers(headers).header('idempotency-replayed', 'true').serializer(asItIs)
  if (body.length === 0) return undefined
  return typeof body === 'string' ? body : Buffer.from(body)
}

function asItIs(payload: unknown) {
  return payload as string
}

/** Takes back what a handler set, where another answer is sent in place of its own. */
export function discard(reply: FastifyReply, payload: unknown, fields: readonly string[]): void {
  if (payload instanceof Readable) payload.on('error', () => {}).destroy()
  for (const name of [...fields, 'content-length', 'set-cookie']) reply.removeHeader(name)
}
