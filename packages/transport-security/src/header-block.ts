import { validateHeaderName, validateHeaderValue } from 'node:http'
import helmet from 'helmet'
import { apiDirectives } from './content-security-policy.ts'
import { headersWrittenBy } from './helmet-headers.ts'
import { newRequestId } from './request-id.ts'

/** Which headers every answer carries. */
export interface HeaderOptions {
  /**
   * `api` sends those that matter to a JSON API, `full` all that helmet knows.
   * @default 'api'
   */
  readonly headers?: 'api' | 'full' | undefined
  /** Single headers to replace or add, by name; `false` leaves one out. */
  readonly overrides?: Readonly<Record<string, string | false>> | undefined
}

/** The same headers for every answer, frozen; `strict-transport-security` is for https alone (RFC 6797 §7.2). */
export interface HeaderBlocks {
  readonly http: Readonly<Record<string, string>>
  readonly https: Readonly<Record<string, string>>
}

const apiHeaders = new Set([
  'content-security-policy',
  'cross-origin-resource-policy',
  'referrer-policy',
  'strict-transport-security',
  'x-content-type-options',
  'x-frame-options'
])

// What belongs to one answer can't be the same for all of them.
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

/** Computes both blocks once. Throws a `TypeError` for a header that can't be sent, or that belongs to a single answer. */
export function headerBlocks({ headers = 'api', overrides = {} }: HeaderOptions): HeaderBlocks {
  if (headers !== 'api' && headers !== 'full') {
    throw new TypeError(`transport-security: headers is "${String(headers)}". Choose 'api' or 'full'.`)
  }
  const block = new Map(helmetHeaders().filter(([name]) => headers === 'full' || apiHeaders.has(name)))
  for (const [givenName, value] of Object.entries(overrides)) {
    const name = givenName.toLowerCase()
    if (value === false) {
      if (!block.delete(name)) {
        throw new TypeError(
          `transport-security: overrides leaves out "${givenName}", which is not sent. Sent are: ${[...block.keys()].join(', ')}.`
        )
      }
    } else {
      requireHeader(name, value)
      block.set(name, value)
    }
  }
  const https = Object.freeze(Object.fromEntries(block))
  block.delete('strict-transport-security')
  return { http: Object.freeze(Object.fromEntries(block)), https }
}

/**
 * Makes the headers of an answer that no hook sees, as one written straight to a socket: the block of the plugin with the
 * same options, and a `request-id`, the request's own when there is one. The object is fresh and the caller's to extend.
 * Throws a `TypeError` at boot for options that the plugin would refuse.
 */
export function answerHeaders(options: HeaderOptions = {}): (request?: { id?: string; protocol?: string }) => Record<string, string> {
  const blocks = headerBlocks(options)
  return (request) => ({
    ...(request?.protocol === 'https' ? blocks.https : blocks.http),
    'request-id': request?.id ?? newRequestId()
  })
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

function requireHeader(name: string, value: unknown) {
  if (ownedElsewhere.has(name)) {
    throw new TypeError(`transport-security: overrides has "${name}", which differs from answer to answer. Set it on the reply.`)
  }
  try {
    validateHeaderName(name)
    if (typeof value !== 'string' || value === '') throw new TypeError('not a text')
    validateHeaderValue(name, value)
  } catch {
    throw new TypeError(
      `transport-security: overrides has "${name}": ${JSON.stringify(value)}, which no header can be. Give a header name and a text, or false.`
    )
  }
}
