import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { TrustProxy } from './trusted-proxies.ts'

/** The properties of a Node.js request (HTTP/1 or HTTP/2) that determine its request id. */
export interface IdentifiedRequest {
  readonly headers: IncomingHttpHeaders
  readonly socket?: { readonly remoteAddress?: string | undefined } | undefined
}

/** The JSON Schema of the ids that this package makes or accepts: UUIDs, or those of a proxy. */
export const requestIdSchema = { type: 'string', pattern: '^[\\w-]{16,64}$', maxLength: 64 }

// A UUID matches. None of these characters can break out of a log line, a header or a page.
const acceptable = new RegExp(requestIdSchema.pattern)

/** The functions that return such ids. A service can have one of its own. */
export const ownGenerators = new WeakSet<object>([newRequestId])

/** Returns a new request id: a random UUID, unique across processes and machines (rule H2). */
export function newRequestId(): string {
  return randomUUID()
}

/**
 * Returns a function that takes the request id from the `X-Request-Id` header of a trusted proxy. An id in another format, or from any other peer,
 * is replaced with a new id. Only `X-Request-Id` is read, because proxies set it; they would pass on a client's `Request-Id`.
 */
export function requestIdReader(trusts: TrustProxy): (request: IdentifiedRequest) => string {
  return ({ headers, socket }) => {
    const header = headers['x-request-id']
    return typeof header === 'string' && acceptable.test(header) && trusts(socket?.remoteAddress ?? '', 0) ? header : newRequestId()
  }
}
