import { negotiate } from '@fastify/accept-negotiator'

const separator = '--'
const codings: ReadonlySet<string> = new Set(['br', 'compress', 'deflate', 'gzip', 'zstd'])

/**
 * The tag of the same content in a coding. A strong tag names bytes, so that of the compressed ones has to differ (RFC 9110 §8.8.3.3);
 * a weak one names the content, and stays.
 */
export function tagInCoding(tag: string, coding: string): string {
  return tag.startsWith('"') ? `${tag.slice(0, -1)}${separator}${coding}"` : tag
}

/** The coding in which a tag names the content of `opaque`: `identity` for the tag itself, `undefined` for the tag of other content. */
export function codingOf(tag: string, opaque: string): string | undefined {
  if (tag === opaque) return 'identity'
  if (!tag.startsWith(opaque + separator)) return undefined
  const coding = tag.slice(opaque.length + separator.length)
  return codings.has(coding) ? coding : undefined
}

/** Whether the client of this `Accept-Encoding` can read the coding. Everyone reads what is not coded. */
export function isAcceptable(coding: string, acceptEncoding: string | undefined): boolean {
  return coding === 'identity' || negotiate(acceptEncoding?.toLowerCase() ?? '', [coding]) === coding
}

// What every compressor leaves alone, because it is compressed already. Anything else may come in several codings.
const incompressible = /^(?:audio|video)\/|^image\/(?!svg|bmp)|^font\/woff|^application\/(?:zip|gzip|zstd|pdf|x-7z|x-bzip)/i

/** Whether a compressor may have touched an answer of this media type, so that it varies by `Accept-Encoding`. */
export function isCompressible(mediaType: unknown): boolean {
  return !incompressible.test(String(mediaType))
}
