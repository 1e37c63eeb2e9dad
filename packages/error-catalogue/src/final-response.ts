import type { FastifyReply } from 'fastify'
import { type ErrorResponse, sendable } from './error-response.ts'

type Headers = Record<string, string | number | readonly string[]>
type WriteHead = (statusCode: number, headers?: Headers) => FastifyReply['raw']

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
  const writeHead = raw.writeHead.bind(raw) as WriteHead
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
  raw.write = ((...parts: unknown[]) => (isReleased(parts[0]) ? write(...parts) : true)) as typeof raw.write

  raw.end = ((...parts: unknown[]) => {
    if (head === undefined || isReleased(parts[0])) return end(...parts)
    const {
      statusCode,
      headers: { 'content-encoding': _coding, 'transfer-encoding': _transfer, trailer: _trailer, ...headers }
    } = head
    head = undefined
    if (statusCode !== final.response.statusCode) final.response = final.ofStatus(statusCode)
    const { body, headers: ownHeaders } = final.response
    const ownHead = {
      ...ownHeaders,
      ...headers,
      'content-type': ownHeaders['content-type'] as string,
      'content-length': Buffer.byteLength(body)
    }
    writeHeadSafely(reply, final.response.statusCode, ownHead, writeHead)
    return end(request.method === 'HEAD' ? undefined : body)
  }) as typeof raw.end

  // A body that a later hook compressed arrives as bytes. Text with that header is the fallback of Fastify.
  function isReleased(part: unknown) {
    if (head === undefined) return true
    if (head.headers['content-encoding'] === undefined || !(part instanceof Uint8Array)) return false
    writeHeadSafely(reply, head.statusCode, head.headers, writeHead)
    head = undefined
    return true
  }
}

/** Writes a response without the `onSend` hooks. */
export function writeAtOnce(reply: FastifyReply, { statusCode, headers, body }: ErrorResponse): void {
  reply.hijack()
  const writeHead = reply.raw.writeHead.bind(reply.raw) as WriteHead
  writeHeadSafely(reply, statusCode, { ...headers, 'content-length': Buffer.byteLength(body) }, writeHead)
  reply.raw.end(reply.request.method === 'HEAD' ? undefined : body)
}

// Without the headers that Node.js rejects.
function writeHeadSafely({ raw, request }: FastifyReply, statusCode: number, headers: Headers, writeHead: WriteHead) {
  try {
    writeHead(statusCode, headers)
  } catch {
    // A rejected header section leaves its reason phrase behind.
    if (request.raw.httpVersionMajor === 1) raw.statusMessage = ''
    writeHead(statusCode, sendable(headers))
  }
}

/** Returns whether a payload is that of the chosen error response. The body is gone for HEAD, and has different bytes if a hook compressed it. */
export function isOwn(reply: FastifyReply, payload: unknown, { response }: FinalResponse): boolean {
  return payload === response.body || reply.hasHeader('content-encoding') || (reply.request.method === 'HEAD' && payload === null)
}
