import { type ParsingStep, stepHook } from '@concordat/request-steps'
import type { FastifyRequest } from 'fastify'
import { unsupportedCharset, unsupportedContentEncoding, unsupportedMediaType } from './errors.ts'
import { maxHeaderLength, memoize } from './header-list.ts'
import { isUtf8, parseMediaType } from './media-type.ts'

/** Returns a step that refuses a body unless it has a media type in `consumes`, UTF-8, and only content codings in `codings` (rule N3). */
export function bodyJudge(consumes: readonly string[], codings: readonly string[]): ReturnType<typeof stepHook<'preParsing'>> {
  const refusalOf = memoize((contentType) => {
    const mediaType = contentType.length > maxHeaderLength ? undefined : parseMediaType(contentType)
    // A gateway may have used the other value of a repeated parameter.
    if (mediaType === undefined || mediaType.repeatsParameter || !consumes.includes(mediaType.essence)) return unsupportedMediaType
    return isUtf8(mediaType) ? undefined : unsupportedCharset
  })
  const judge: ParsingStep = (request) => {
    // Fastify does not read the bodies of these methods.
    if (request.method === 'GET' || request.method === 'HEAD' || !hasBody(request)) return undefined
    const { 'content-type': contentType = '', 'content-encoding': contentEncoding = 'identity' } = request.headers
    const refuse = isRepeated(request.raw.rawHeaders) ? unsupportedMediaType : refusalOf(contentType)
    if (refuse !== undefined) return refuse(request.method, consumes)
    return isDecoded(contentEncoding, codings) ? undefined : unsupportedContentEncoding(codings)
  }
  return stepHook('preParsing', judge)
}

function hasBody({ headers, raw }: FastifyRequest) {
  const length = headers['content-length']
  if (length !== undefined) return Number(length) !== 0
  // HTTP/2 requires neither header: a stream that stays open has a body.
  return (
    headers['transfer-encoding'] !== undefined ||
    (raw as { readonly stream?: { readonly endAfterHeaders: boolean } }).stream?.endAfterHeaders === false
  )
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
  return contentEncoding.split(',').every((coding) => ['identity', ...codings].includes(coding.trim().toLowerCase()))
}
