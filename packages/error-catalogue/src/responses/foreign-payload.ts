import { Stream } from 'node:stream'
import type { CompleteError } from './error-response.ts'
import type { ErrorEnvelope, ProblemDocument } from './problem-document.ts'

/**
 * Returns the error that a body is already, if it is complete and has this status code, for example a stored response that is sent again: in the envelope,
 * or a problem document of this project.
 */
export function completeError(payload: unknown, statusCode: number): CompleteError | undefined {
  try {
    const content = typeof payload === 'string' || Buffer.isBuffer(payload) ? JSON.parse(payload.toString()) : payload
    if (content.error === undefined) return isProblem(content, statusCode) ? { problem: content } : undefined
    return isEnvelope(content, statusCode) ? { envelope: content } : undefined
  } catch {
    return undefined
  }
}

function isEnvelope({ error, _links, _meta }: ErrorEnvelope, statusCode: number) {
  return (
    error.status === statusCode &&
    [error.error, error.message, error.code, _meta.version, _meta.timestamp].every((text) => typeof text === 'string') &&
    _links.some((link) => {
      const { rel, href, method } = link as Readonly<Record<string, unknown>>
      return rel === 'self' && typeof href === 'string' && typeof method === 'string'
    })
  )
}

function isProblem({ status, type, title, detail, instance, code, version, timestamp, errors = [] }: ProblemDocument, statusCode: number) {
  const texts = [type, title, detail, instance, code, version, timestamp, ...errors.map((one) => one.detail)]
  return status === statusCode && texts.every((text) => typeof text === 'string')
}

/** Returns whether a payload is a `Response`, by its tag, as Fastify does: the global `Response` would load the fetch of Node.js. */
export function isResponse(payload: unknown): payload is { readonly status?: number | undefined; readonly body?: unknown } {
  return typeof payload === 'object' && Object.prototype.toString.call(payload) === '[object Response]'
}

/** Cancels or destroys a stream that will not be sent as a body. */
export function discard(payload: unknown): void {
  const body = isResponse(payload) ? payload.body : payload
  if (body instanceof ReadableStream) body.cancel().catch(() => undefined)
  else if (body instanceof Stream && 'destroy' in body && typeof body.destroy === 'function') {
    // A missing file emits its error later.
    body.on('error', () => undefined)
    body.destroy()
  }
}
