import type http from 'node:http'
import { Socket } from 'node:net'
import helmet from 'helmet'

const { IncomingMessage, ServerResponse, validateHeaderName, validateHeaderValue } = process.getBuiltinModule('node:http')

/** The security headers that every response has, over HTTP and over HTTPS, as frozen objects. */
export interface HeaderBlocks {
  readonly http: Readonly<Record<string, string>>
  /** Also with `strict-transport-security`, which is sent only over https (RFC 6797 §7.2). */
  readonly https: Readonly<Record<string, string>>
}

/** The directives for a JSON API: nothing is loaded, and framing is not allowed. */
export const apiDirectives: { readonly defaultSrc: string[]; readonly frameAncestors: string[] } = {
  defaultSrc: ["'none'"],
  frameAncestors: ["'none'"]
}

const apiHeaders = new Set([
  'content-security-policy',
  'cross-origin-resource-policy',
  'referrer-policy',
  'strict-transport-security',
  'x-content-type-options',
  'x-frame-options'
])

// These headers belong to a single response, so they cannot be the same for all responses.
const ownedElsewhere = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'request-id',
  'set-cookie',
  'transfer-encoding',
  'vary'
])

/** Returns the security headers. Throws a `TypeError` for an invalid header, and for a header that belongs to a single response. */
export function headerBlocks(overrides: Readonly<Record<string, string | false>>): HeaderBlocks {
  const block = new Map(helmetHeaders().filter(([name]) => apiHeaders.has(name)))
  for (const [originalName, value] of Object.entries(overrides)) {
    const name = originalName.toLowerCase()
    if (value !== false) block.set(name, validHeader(name, value))
    else if (!block.delete(name)) {
      throw new TypeError(
        `transport-security: options.overrides removes "${originalName}", which is not sent anyway. The headers that can be removed are: ${[...block.keys()].join(', ')}.`
      )
    }
  }
  const https = Object.freeze(Object.fromEntries(block))
  block.delete('strict-transport-security')
  return { http: Object.freeze(Object.fromEntries(block)), https }
}

function helmetHeaders() {
  return headersWrittenBy(
    helmet({
      contentSecurityPolicy: { useDefaults: false, directives: apiDirectives },
      frameguard: { action: 'deny' },
      hsts: { maxAge: 63_072_000, includeSubDomains: true }
    })
  )
}

type Middleware = (request: http.IncomingMessage, response: http.ServerResponse, next: (error?: unknown) => void) => void

/** Returns the headers that a middleware of helmet writes, with names in lower case. It runs once, on a response that is never sent. */
export function headersWrittenBy(write: Middleware): (readonly [name: string, value: string])[] {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  write(response.req, response, (error) => {
    if (error !== undefined) throw error
  })
  return Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)] as const)
}

function validHeader(name: string, value: unknown): string {
  if (ownedElsewhere.has(name)) {
    throw new TypeError(
      `transport-security: options.overrides must not contain "${name}", whose value differs between responses. Set it on the reply.`
    )
  }
  try {
    validateHeaderName(name)
    if (typeof value !== 'string' || value === '') throw new TypeError('not a string')
    validateHeaderValue(name, value)
    return value
  } catch {
    throw new TypeError(
      `transport-security: options.overrides contains an invalid header, "${name}": ${JSON.stringify(value)}. Use a valid header name, and a non-empty string or false as its value.`
    )
  }
}
