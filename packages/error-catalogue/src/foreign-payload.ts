import { Stream } from 'node:stream'

/**
 * Tells whether a body is the envelope of this status already, as when a stored answer is sent once more. It is read, not
 * believed: a body that only looks like it would take the place of an answer that a client can understand.
 */
export function isErrorEnvelope(payload: unknown, statusCode: number): boolean {
  if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return false
  try {
    const { error, _links, _meta } = JSON.parse(payload.toString())
    return (
      error.status === statusCode &&
      [error.error, error.message, error.code, _meta.version, _meta.timestamp].every((text) => typeof text === 'string') &&
      _links.some(
        ({ rel, href, method }: Record<string, unknown>) => rel === 'self' && typeof href === 'string' && typeof method === 'string'
      )
    )
  } catch {
    return false
  }
}

/** Tells a fetch Response by its tag, as Fastify does: the mere name would load Node's fetch on the first answer. */
export function isResponse(payload: unknown): payload is { readonly status?: number; readonly body?: unknown } {
  return typeof payload === 'object' && Object.prototype.toString.call(payload) === '[object Response]'
}

/** Closes a body that is not going to be sent. */
export function discard(payload: unknown): void {
  const body = isResponse(payload) ? payload.body : payload
  if (body instanceof ReadableStream) body.cancel().catch(() => undefined)
  else if (body instanceof Stream && 'destroy' in body && typeof body.destroy === 'function') {
    // A file that does not exist says so later.
    body.on('error', () => undefined)
    body.destroy()
  }
}
