import type { FastifyReply } from 'fastify'
import { type Answer, sendable } from './answer.ts'

type Headers = Record<string, string | number | readonly string[]>

/** An answer that was chosen for a reply, and how to make another one when the status changes on the way. */
export interface FinalAnswer {
  answer: Answer
  readonly ofStatus: (statusCode: number) => Answer
}

/**
 * Makes sure that this response ends with the chosen answer. After the third failure in a row (an onSend hook that always
 * throws, a header that Node refuses) Fastify writes the error's own message straight to the response, past every hook.
 * So the header is held back until the body is known, and a body that is not ours is replaced. A status that is no error's
 * is replaced as well (rule X2).
 */
export function holdResponse({ raw, request }: FastifyReply, final: FinalAnswer): void {
  const writeHead = raw.writeHead.bind(raw) as (statusCode: number, headers?: Headers) => typeof raw
  const write = raw.write.bind(raw) as (...parts: unknown[]) => boolean
  const end = raw.end.bind(raw) as (...parts: unknown[]) => typeof raw
  let head: { statusCode: number; headers: Headers } | undefined

  raw.writeHead = ((statusCode: number, headers?: Headers) => {
    // A head that Node refused has left its reason phrase behind.
    if (request.raw.httpVersionMajor === 1) raw.statusMessage = ''
    const errorStatus = statusCode < 400 ? final.answer.statusCode : statusCode
    // Streams write the head without headers here, once their first byte is there.
    if (headers === undefined) return writeHead(errorStatus)
    head = { statusCode: errorStatus, headers }
    return raw
  }) as typeof raw.writeHead

  // Fastify writes long bodies of HTTP/2, and bodies with trailers, in parts; ours is written at the end, as a whole.
  raw.write = ((...parts: unknown[]) => {
    if (head !== undefined && isCoded(head.headers, parts[0])) releaseHead()
    return head === undefined ? write(...parts) : true
  }) as typeof raw.write

  raw.end = ((...parts: unknown[]) => {
    if (head !== undefined && isCoded(head.headers, parts[0])) releaseHead()
    if (head === undefined) return end(...parts)
    const { statusCode, headers } = head
    head = undefined
    if (statusCode !== final.answer.statusCode) final.answer = final.ofStatus(statusCode)
    const { body, headers: ownHeaders } = final.answer
    writeHeadSafely(final.answer.statusCode, {
      ...ownHeaders,
      ...withoutFraming(headers),
      'content-type': ownHeaders['content-type'] as string,
      'content-length': Buffer.byteLength(body)
    })
    return end(request.method === 'HEAD' ? undefined : body)
  }) as typeof raw.end

  function releaseHead() {
    const { statusCode, headers } = head as { statusCode: number; headers: Headers }
    head = undefined
    writeHeadSafely(statusCode, headers)
  }

  function writeHeadSafely(statusCode: number, headers: Headers) {
    try {
      writeHead(statusCode, headers)
    } catch {
      if (request.raw.httpVersionMajor === 1) raw.statusMessage = ''
      writeHead(statusCode, sendable(headers))
    }
  }
}

// What a later hook has compressed arrives as bytes. Text under that header is Fastify's last resort.
function isCoded(headers: Headers, part: unknown) {
  return headers['content-encoding'] !== undefined && part instanceof Uint8Array
}

function withoutFraming(headers: Headers): Headers {
  const { 'content-encoding': _coding, 'transfer-encoding': _transfer, trailer: _trailer, ...kept } = headers
  return kept
}
