import { Stream } from 'node:stream'

/** Returns whether a body is already a complete error envelope with this status code, for example a stored response that is sent again. */
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
