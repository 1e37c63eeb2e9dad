import type { FastifyReply } from 'fastify'
import { type ErrorResponse, sendable } from './error-response.ts'

type Headers = Record<string, string | number | readonly string[]>

/** The error response chosen for a reply, and a function that creates the error response for another status code. */
export interface FinalResponse {
  response: ErrorResponse
  readonly ofStatus: (statusCode: number) => ErrorResponse
}

/**
 * Ensures that the chosen error response is sent. After the third failure in a row (an onSend hook that always throws, a header that
 * Node.js rejects) Fastify writes the message of the error directly to the response and skips all hooks. So the header section is
 * delayed until the body is known, and a different body is replaced. A status code below 400 is replaced as well (rule X2).
 */
export function holdResponse(reply: FastifyReply, final: FinalResponse): void {
  const { raw, request } = reply
  const writeHead = raw.writeHead.bind(raw) as (statusCode: number, headers?: Headers) => typeof raw
  const write = raw.write.bind(raw) as (...parts: unknown[]) => boolean
  const end = raw.end.bind(raw) as (...parts: unknown[]) => typeof raw
  let head: { statusCode: number; headers: Headers } | undefined

  raw.writeHead = ((statusCode: number, headers?: Headers) => {
    // A rejected header section leaves its reason phrase behind.
    if (request.raw.httpVersionMajor === 1) raw.statusMessage = ''
    const errorStatus = statusCode < 400 ? final.response.statusCode : statusCode
    // Streams call this without headers when their first byte is available.
    if (headers === undefined) return writeHead(errorStatus)
    head = { statusCode: errorStatus, headers }
    return raw
  }) as typeof raw.writeHead

  // Fastify writes long HTTP/2 bodies and bodies with trailers in parts. The chosen body is written as a whole at the end.
  raw.write = ((...parts: unknown[]) => {
    if (head !== undefined && isCoded(head.headers, parts[0])) releaseHead()
    return head === undefined ? write(...parts) : true
  }) as typeof raw.write

  raw.end = ((...parts: unknown[]) => {
    if (head !== undefined && isCoded(head.headers, parts[0])) releaseHead()
    if (head === undefined) return end(...parts)
    const { statusCode, headers } = head
    head = undefined
    if (statusCode !== final.response.statusCode) final.response = final.ofStatus(statusCode)
    const { body, headers: ownHeaders } = final.response
    const ownHead = {
      ...ownHeaders,
      ...withoutFraming(headers),
      'content-type': ownHeaders['content-type'] as string,
      'content-length': Buffer.byteLength(body)
    }
    writeHeadSafely(reply, final.response.statusCode, ownHead, writeHead)
    return end(request.method === 'HEAD' ? undefined : body)
  }) as typeof raw.end

  function releaseHead() {
    const { statusCode, headers } = head as { statusCode: number; headers: Headers }
    head = undefined
    writeHeadSafely(reply, statusCode, headers, writeHead)
  }
}

/** Writes a response without the `onSend` hooks. */
export function writeAtOnce(reply: FastifyReply, { statusCode, headers, body }: ErrorResponse): void {
  reply.hijack()
  writeHeadSafely(reply, statusCode, { ...headers, 'content-length': Buffer.byteLength(body) })
  reply.raw.end(reply.request.method === 'HEAD' ? undefined : body)
}

/** Writes the header section of a reply, without the headers that Node.js rejects. */
function writeHeadSafely(
  { raw, request }: FastifyReply,
  statusCode: number,
  headers: Headers,
  writeHead: (statusCode: number, headers: Headers) => unknown = raw.writeHead.bind(raw) as (
    statusCode: number,
    headers: Headers
  ) => unknown
): void {
  try {
    writeHead(statusCode, headers)
  } catch {
    // A rejected header section leaves its reason phrase behind.
    if (request.raw.httpVersionMajor === 1) raw.statusMessage = ''
    writeHead(statusCode, sendable(headers))
  }
}

// A body that a later hook compressed arrives as bytes. Text with that header is the fallback of Fastify.
function isCoded(headers: Headers, part: unknown) {
  return headers['content-encoding'] !== undefined && part instanceof Uint8Array
}

function withoutFraming(headers: Headers): Headers {
  const { 'content-encoding': _coding, 'transfer-encoding': _transfer, trailer: _trailer, ...remaining } = headers
  return remaining
}

/**
 * Returns whether a payload is that of the chosen error response. The body of a response to HEAD is gone when hooks see it, and a body that another
 * hook compressed has different bytes.
 */
export function isOwn(reply: FastifyReply, payload: unknown, { response }: FinalResponse): boolean {
  return payload === response.body || reply.hasHeader('content-encoding') || (reply.request.method === 'HEAD' && payload === null)
}
