import type { FastifyReply } from 'fastify'
import type { Answer } from './answer.ts'

type Headers = Record<string, string | number | readonly string[]>

/** An answer that was chosen for a reply, and how to make another one when the status changes on the way. */
export interface FinalAnswer {
  answer: Answer
  readonly ofStatus: (statusCode: number) => Answer
  readonly constantHeaders: () => Readonly<Record<string, string>>
}

/**
 * Makes sure that this response ends with the chosen answer. After the third failure in a row (an onSend hook that always
 * throws, a header that Node refuses) Fastify writes the error's own message straight to the response, past every hook.
 * So the header is held back until the body is known, and a body that is not ours is replaced.
 */
export function holdResponse({ raw, request }: FastifyReply, final: FinalAnswer): void {
  const writeHead = raw.writeHead.bind(raw) as (statusCode: number, headers?: Headers) => typeof raw
  const end = raw.end.bind(raw) as (...parts: unknown[]) => typeof raw
  let head: { statusCode: number; headers: Headers } | undefined

  raw.writeHead = ((statusCode: number, headers?: Headers) => {
    // Streams write the head without headers here, once their first byte is there.
    if (headers === undefined || headers['content-encoding'] !== undefined) return writeHead(statusCode, headers)
    head = { statusCode, headers }
    return raw
  }) as typeof raw.writeHead

  raw.end = ((...parts: unknown[]) => {
    if (head === undefined) return end(...parts)
    const { statusCode, headers } = head
    head = undefined
    const ours = parts[0] === final.answer.body && statusCode === final.answer.statusCode
    if (!ours && statusCode !== final.answer.statusCode) final.answer = final.ofStatus(statusCode)
    const { body } = final.answer
    writeHeadSafely(statusCode, { ...headers, ...(ours ? {} : final.answer.headers), 'content-length': Buffer.byteLength(body) })
    return end(request.method === 'HEAD' ? undefined : body)
  }) as typeof raw.end

  function writeHeadSafely(statusCode: number, headers: Headers) {
    // A head that Node refused has left its reason phrase behind.
    if (request.raw.httpVersionMajor === 1) raw.statusMessage = ''
    try {
      writeHead(statusCode, headers)
    } catch {
      const { body, headers } = final.answer
      writeHead(statusCode, { ...final.constantHeaders(), ...headers, 'content-length': Buffer.byteLength(body) })
    }
  }
}
