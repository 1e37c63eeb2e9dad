import type { OutgoingHttpHeaders } from 'node:http'
import { guardResponse } from '@concordat/plugin-kit/server'
import type { FastifyReply } from 'fastify'
import { type ErrorResponse, sendable } from './error-response.ts'

/** The error response chosen for a reply, and a function that creates the error response for another status code. */
export interface FinalResponse {
  response: ErrorResponse
  readonly ofStatus: (statusCode: number) => ErrorResponse
}

/**
 * Ensures that the chosen error response is sent. After the third failure in a row, such as of an onSend hook that always throws, Fastify writes the
 * message of the error and skips all hooks. So the header section waits until the body is known, and another body or a success is replaced (rule X2).
 */
export function holdResponse(reply: FastifyReply, final: FinalResponse): void {
  const { raw, request } = reply
  let held: { readonly statusCode: number; readonly headers: OutgoingHttpHeaders } | undefined
  guardResponse(raw, { head, sends, end })

  function head(statusCode: number, headers: OutgoingHttpHeaders | undefined) {
    // A rejected header section leaves its reason phrase behind.
    if (request.raw.httpVersionMajor === 1) raw.statusMessage = ''
    const errorStatus = statusCode < 400 ? final.response.statusCode : statusCode
    // Streams call this without headers when their first byte is available.
    if (headers === undefined) return errorStatus
    held = { statusCode: errorStatus, headers }
    return undefined
  }

  // Fastify writes long HTTP/2 bodies and bodies with trailers in parts. The chosen body is written as a whole at the end. A body that a later hook
  // compressed arrives as bytes. Text with that header is the fallback of Fastify.
  function sends(part: unknown) {
    if (held === undefined) return true
    if (held.headers['content-encoding'] === undefined || !(part instanceof Uint8Array)) return false
    release(held.statusCode, held.headers)
    return true
  }

  function end(part: unknown) {
    if (held === undefined || sends(part)) return part
    const {
      statusCode,
      headers: { 'content-encoding': _coding, 'transfer-encoding': _transfer, trailer: _trailer, ...headers }
    } = held
    if (statusCode !== final.response.statusCode) final.response = final.ofStatus(statusCode)
    const { body, headers: ownHeaders } = final.response
    release(final.response.statusCode, {
      ...ownHeaders,
      ...headers,
      'content-type': ownHeaders['content-type'],
      'content-length': Buffer.byteLength(body)
    })
    return request.method === 'HEAD' ? undefined : body
  }

  function release(statusCode: number, headers: OutgoingHttpHeaders) {
    guardResponse(raw, undefined)
    writeHeadSafely(reply, statusCode, headers)
  }
}

/** Writes a response without the `onSend` hooks. */
export function writeAtOnce(reply: FastifyReply, { statusCode, headers, body }: ErrorResponse): void {
  reply.hijack()
  guardResponse(reply.raw, undefined)
  writeHeadSafely(reply, statusCode, { ...headers, 'content-length': Buffer.byteLength(body) })
  reply.raw.end(reply.request.method === 'HEAD' ? undefined : body)
}

// Without the headers that Node.js rejects.
function writeHeadSafely({ raw, request }: FastifyReply, statusCode: number, headers: OutgoingHttpHeaders) {
  try {
    raw.writeHead(statusCode, headers)
  } catch {
    // A rejected header section leaves its reason phrase behind.
    if (request.raw.httpVersionMajor === 1) raw.statusMessage = ''
    raw.writeHead(statusCode, sendable(headers))
  }
}

/** Returns whether a payload is that of the chosen error response. The body is gone for HEAD, and has different bytes if a hook compressed it. */
export function isOwn(reply: FastifyReply, payload: unknown, { response }: FinalResponse): boolean {
  return payload === response.body || reply.hasHeader('content-encoding') || (reply.request.method === 'HEAD' && payload === null)
}
