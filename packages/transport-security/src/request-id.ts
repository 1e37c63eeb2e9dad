import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { TrustProxy } from './trusted-proxies.ts'

/** The part of Node's request, HTTP/1 or HTTP/2, that an id is read from. */
export interface IdentifiedRequest {
  readonly headers: IncomingHttpHeaders
  readonly socket?: { readonly remoteAddress?: string | undefined } | undefined
}

// A UUID is one of these. Nothing in it can break out of a log line, a header or a page.
const acceptable = /^[\w-]{16,64}$/

/** Makes the id of a request: a random UUID, unique across processes and machines (rule H2). Reads nothing and never throws. */
export function newRequestId(): string {
  return randomUUID()
}

/**
 * Makes the function that takes the id of a request over from a trusted proxy. An id in another form, and one of anybody else,
 * is replaced by a new one. Only `X-Request-Id` is read, which proxies set: a client's `Request-Id` would pass through them.
 */
export function requestIdReader(trusts: TrustProxy): (request: IdentifiedRequest) => string {
  return ({ headers, socket }) => {
    const given = headers['x-request-id']
    return typeof given === 'string' && acceptable.test(given) && trusts(socket?.remoteAddress ?? '', 0) ? given : newRequestId()
  }
}
