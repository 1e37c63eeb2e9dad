import type { ApiError } from '@concordat/api-error'
import { unsupportedCharset, unsupportedContentEncoding, unsupportedMediaType } from './errors.ts'
import { maxHeaderLength } from './header-list.ts'
import { isUtf8, parseMediaType } from './media-type.ts'
import { memoize } from './memoize.ts'

/** The part of a request that shows whether it has a body, and the media type of the body. */
export interface BodyRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly raw: { readonly rawHeaders: readonly string[]; readonly stream?: { readonly endAfterHeaders?: boolean | undefined } | undefined }
}

/**
 * Returns a function that checks a request before its body is read, and returns an error unless the media type of the body is in `consumes`, its
 * charset is UTF-8 and all its content codings are in `codings` (rule N3).
 */
export function bodyJudge(consumes: readonly string[], codings: readonly string[]): (request: BodyRequest) => ApiError | undefined {
  const refusalOf = memoize((contentType) => {
    const mediaType = contentType.length > maxHeaderLength ? undefined : parseMediaType(contentType)
    // A gateway may have used the other value of a repeated parameter.
    if (mediaType === undefined || mediaType.repeatsParameter || !consumes.includes(mediaType.essence)) return unsupportedMediaType
    return isUtf8(mediaType) ? undefined : unsupportedCharset
  })
  return (request) => {
    // Fastify does not read the bodies of these methods.
    if (request.method === 'GET' || request.method === 'HEAD' || !hasBody(request)) return undefined
    const { 'content-type': contentType = '', 'content-encoding': contentEncoding } = request.headers
    const refuse = isRepeated(request.raw.rawHeaders) ? unsupportedMediaType : refusalOf(contentType as string)
    if (refuse !== undefined) return refuse(request.method, consumes)
    if (contentEncoding === undefined || isDecoded(contentEncoding as string, codings)) return undefined
    return unsupportedContentEncoding(codings)
  }
}

function hasBody({ headers, raw }: BodyRequest) {
  const length = headers['content-length']
  if (length !== undefined) return Number(length) !== 0
  // HTTP/2 requires neither header: a stream that stays open has a body.
  return headers['transfer-encoding'] !== undefined || raw.stream?.endAfterHeaders === false
}

// Node.js uses the first of two Content-Type lines and ignores the other, but a gateway may have used the other.
function isRepeated(rawHeaders: readonly string[]) {
  let seen = false
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string
    if (name.length !== 12 || name.toLowerCase() !== 'content-type') continue
    if (seen) return true
    seen = true
  }
  return false
}

function isDecoded(contentEncoding: string, codings: readonly string[]) {
  return contentEncoding
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .every((coding) => coding === 'identity' || codings.includes(coding))
}
