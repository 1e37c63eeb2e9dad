import type { IncomingMessage } from 'node:http'
import type { ApiError } from '@concordat/plugin-kit/api-error'
import { hostErrorOf } from '@concordat/plugin-kit/links'
import type { FastifyRequest } from 'fastify'
import { guardParts } from '../bodies/multipart.ts'
import { unstorablePath } from '../bodies/storable-request.ts'
import { errorCatalogueErrors } from '../catalogue/errors.ts'
import { targetOf } from '../responses/error-response.ts'

/** The maximum length of a request target, in characters. */
export const maxUriLength = 8192

// By length, because this skips almost every header without a comparison of strings.
const onceOnly = new Map([
  [4, 'host'],
  [12, 'content-type'],
  [13, 'authorization']
])

// Escapes that may be malformed or bytes that are not UTF-8. Fastify's parser of queries leaves them as they are.
const escapes = /%(?![0-7][\da-f])/i

const multipartType = /^\s*multipart\//i

/** A step that refuses a request whose form HTTP does not allow, or whose path cannot identify a resource. */
export function refuseBadForm(request: FastifyRequest): Error | undefined {
  const { 'content-type': contentType } = request.headers
  if (contentType !== undefined && multipartType.test(contentType)) guardParts(request)
  return formErrorOf(request.raw) ?? unstorablePath(request)
}

/**
 * Returns the error for a request that Node.js accepts but HTTP does not allow (RFC 9112 §3.2, §6.1; RFC 9110 §5.3), or undefined. Of a second Host,
 * Authorization or Content-Type, Node.js silently uses the first.
 */
function formErrorOf(raw: IncomingMessage): ApiError | undefined {
  const target = targetOf(raw)
  if (target.length > maxUriLength) return errorCatalogueErrors.create('URI_TOO_LONG')
  // A target never has a fragment, which the router would read as the start of the query.
  if (target.includes('#') || (!target.startsWith('/') && !isOtherForm(target, raw.method)))
    return errorCatalogueErrors.create('MALFORMED_REQUEST')
  if (target.includes('%') && escapes.test(target) && raw.method !== 'OPTIONS' && !isDecodable(target))
    return errorCatalogueErrors.create('MALFORMED_URI')
  if (raw.httpVersionMajor === 0) return errorCatalogueErrors.create('HTTP_VERSION_NOT_SUPPORTED')
  const hostError = hostErrorOf({ headers: raw.headers, url: target, httpVersion: raw.httpVersion })
  if (hostError !== undefined) return errorCatalogueErrors.create(hostError)
  const coding = raw.headers['transfer-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    // The end of the body is unknown, so the connection cannot be used for another request.
    return errorCatalogueErrors.create('TRANSFER_CODING_NOT_IMPLEMENTED', { headers: { connection: 'close' } })
  }
  return duplicateIn(raw.rawHeaders)
}

// Absolute form, and the asterisk of OPTIONS (RFC 9112 §3.2).
function isOtherForm(target: string, method: string | undefined) {
  return target === '*' ? method === 'OPTIONS' : /^https?:\/\//i.test(target)
}

function isDecodable(target: string) {
  try {
    decodeURIComponent(target)
    return true
  } catch {
    return false
  }
}

function duplicateIn(rawHeaders: readonly string[]): ApiError | undefined {
  let seen = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string
    const wanted = onceOnly.get(name.length)
    if (wanted === undefined || name.toLowerCase() !== wanted) continue
    const bit = 1 << name.length
    if ((seen & bit) !== 0) return errorCatalogueErrors.create('DUPLICATE_HEADER', { params: { header: wanted } })
    seen |= bit
  }
  return undefined
}
