import { isUtf8, maxHeaderLength, memoize, parseMediaType } from '@concordat/plugin-kit/accept'
import { type ParsingStep, stepHook } from '@concordat/plugin-kit/steps'
import type { FastifyRequest } from 'fastify'
import { unsupportedCharset, unsupportedContentEncoding, unsupportedMediaType } from './errors.ts'

/**
 * What happens to a body in a media type that the route does not list: it is refused, refused with a line in the log if a parser for it is registered, or
 * left to the parsers, of which the last one refuses it.
 */
export type OtherTypes = 'refused' | 'logged' | 'parsed'

/** Returns a step that refuses a body unless it has a media type in `consumes`, UTF-8, and only content codings in `codings` (rule N3). */
export function bodyJudge(
  consumes: readonly string[],
  codings: readonly string[],
  others: OtherTypes
): ReturnType<typeof stepHook<'preParsing'>> {
  const logged = new Set<string>()
  const refusalOf = memoize((contentType) => {
    const mediaType = contentType.length > maxHeaderLength ? undefined : parseMediaType(contentType)
    // A gateway may have used the other value of a repeated parameter.
    if (mediaType === undefined || mediaType.repeatsParameter) return { refuse: unsupportedMediaType }
    if (!consumes.includes(mediaType.essence)) return { refuse: unsupportedMediaType, other: mediaType.essence }
    return { refuse: isUtf8(mediaType) ? undefined : unsupportedCharset }
  })
  const judge: ParsingStep = (request) => {
    // Fastify does not read the bodies of these methods.
    if (request.method === 'GET' || request.method === 'HEAD' || !hasBody(request)) return undefined
    const { 'content-type': contentType = '', 'content-encoding': contentEncoding = 'identity' } = request.headers
    const { refuse, other } = isRepeated(request.raw.rawHeaders) ? { refuse: unsupportedMediaType } : refusalOf(contentType)
    if (refuse !== undefined && (other === undefined || !isForParser(request, other))) return refuse(request.method, consumes)
    return isDecoded(contentEncoding, codings) ? undefined : unsupportedContentEncoding(codings)
  }
  return stepHook('preParsing', judge)

  function isForParser({ server, method, log, routeOptions: { url } }: FastifyRequest, mediaType: string) {
    // Fastify itself has a parser for plain text, which browsers send across origins without a preflight.
    if (mediaType === 'text/plain') return false
    if (others === 'parsed') return true
    const line = `${method} ${url} ${mediaType}`
    if (others === 'logged' && server.hasContentTypeParser(mediaType) && !logged.has(line)) {
      logged.add(line)
      log.warn(
        `content-negotiation: ${method} ${url}: a body was refused with 415, although a parser for ${mediaType} is registered, because the route accepts ${consumes.join(', ')}. If it also accepts ${mediaType}, add that to config.consumes.`
      )
    }
    return false
  }
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
