import { negotiate } from '@fastify/accept-negotiator'

const separator = '--'
const codings: ReadonlySet<string> = new Set(['br', 'compress', 'deflate', 'gzip', 'zstd'])

/** Returns the entity tag of the same content in a content coding: another one for a strong tag, which identifies bytes (RFC 9110 §8.8.3.3). */
export function tagInCoding(tag: string, coding: string): string {
  return tag.startsWith('"') ? `${tag.slice(0, -1)}${separator}${coding}"` : tag
}

/** Returns the content coding of a tag that identifies the same content as `opaque`: `identity` for the same tag, `undefined` for other content. */
export function codingOf(tag: string, opaque: string): string | undefined {
  if (tag === opaque) return 'identity'
  if (!tag.startsWith(opaque + separator)) return undefined
  const coding = tag.slice(opaque.length + separator.length)
  return codings.has(coding) ? coding : undefined
}

/** Returns whether a client with this `Accept-Encoding` accepts the coding. All clients accept `identity`. */
export function isAcceptable(coding: string, acceptEncoding: string | undefined): boolean {
  return coding === 'identity' || negotiate(acceptEncoding?.toLowerCase() ?? '', [coding]) === coding
}

// Media types that compressors skip because they are compressed already. All other types may be sent in several codings.
const incompressible = /^(?:audio|video)\/|^image\/(?!svg|bmp)|^font\/woff|^application\/(?:zip|gzip|zstd|pdf|x-7z|x-bzip)/i

/** Returns whether a response of this media type may have been compressed, so that it varies by `Accept-Encoding`. */
export function isCompressible(mediaType: unknown): boolean {
  if (mediaType !== lastCompressible) {
    if (incompressible.test(String(mediaType))) return false
    lastCompressible = mediaType
  }
  return true
}

// Nearly all responses have the same media type.
let lastCompressible: unknown
