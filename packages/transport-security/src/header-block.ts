import { validateHeaderName, validateHeaderValue } from 'node:http'
import { optionChecks } from '@concordat/plugin-options'
import helmet from 'helmet'
import { apiDirectives } from './content-security-policy.ts'
import { headersWrittenBy } from './helmet-headers.ts'

/** The options for the headers of every response. */
export interface HeaderOptions {
  /**
   * `api` sends the headers that matter for a JSON API, `full` sends all headers of helmet.
   * @default 'api'
   */
  readonly headers?: 'api' | 'full' | undefined
  /** Headers to replace or add, by name; `false` removes a header. */
  readonly overrides?: Readonly<Record<string, string | false>> | undefined
}

/**
 * The security headers that are sent with every response over HTTP and over HTTPS, as frozen objects. `strict-transport-security` is sent only
 * over https (RFC 6797 §7.2).
 */
export interface HeaderBlocks {
  readonly http: Readonly<Record<string, string>>
  readonly https: Readonly<Record<string, string>>
}

const { oneOf } = optionChecks('transport-security')

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

/**
 * Returns the security headers for responses over HTTP and over HTTPS. Throws a `TypeError` for an invalid header, and for a header that belongs
 * to a single response.
 */
export function headerBlocks({ headers = 'api', overrides = {} }: HeaderOptions): HeaderBlocks {
  oneOf('options.headers', headers, ['api', 'full'])
  const block = new Map(helmetHeaders().filter(([name]) => headers === 'full' || apiHeaders.has(name)))
  for (const [originalName, value] of Object.entries(overrides)) {
    const name = originalName.toLowerCase()
    if (value === false) {
      if (!block.delete(name)) {
        throw new TypeError(
          `transport-security: options.overrides removes "${originalName}", which is not sent anyway. The headers that can be removed are: ${[...block.keys()].join(', ')}.`
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
    throw new TypeError(
      `transport-security: options.overrides must not contain "${name}", whose value differs between responses. Set it on the reply.`
    )
  }
  try {
    validateHeaderName(name)
    if (typeof value !== 'string' || value === '') throw new TypeError('not a string')
    validateHeaderValue(name, value)
  } catch {
    throw new TypeError(
      `transport-security: options.overrides contains an invalid header, "${name}": ${JSON.stringify(value)}. Use a valid header name, and a non-empty string or false as its value.`
    )
  }
}
