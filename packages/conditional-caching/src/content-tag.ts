import { createHash, hash } from 'node:crypto'

// Part of the input of every tag, so that a change of the hashed input changes all tags.
const form = 'concordat 1'
const algorithm = 'sha256'
// 132 bits: enough to exclude collisions in practice.
const length = 22
const mostBytesOfCharacter = 3
const maxCopied = 1024
// Text is encoded into this buffer before hashing: a string would be copied twice first, which takes half as long as the hash.
const buffer = Buffer.allocUnsafeSlow(256 * 1024)

/**
 * Returns the tag of a body, without quotes: a hash of its media type and of its bytes except `tailLength` characters at the end. It
 * depends on nothing else, so that all processes create the same tag (rule C6).
 */
export function contentTag(payload: string | Buffer, mediaType: string, tailLength: number): string {
  const prefix = `${form}\n${mediaType}\n`
  const content = typeof payload === 'string' ? payload.slice(0, payload.length - tailLength) : payload
  return digestOf(prefix, content).slice(0, length)
}

function digestOf(prefix: string, content: string | Buffer) {
  // To copy a short text costs less than the buffer.
  if (typeof content === 'string' && content.length <= maxCopied) return hash(algorithm, prefix + content, 'base64url')
  if (typeof content === 'string' && (prefix.length + content.length) * mostBytesOfCharacter <= buffer.length) {
    const start = buffer.write(prefix)
    return hash(algorithm, buffer.subarray(0, start + buffer.write(content, start)), 'base64url')
  }
  return createHash(algorithm).update(prefix).update(content).digest('base64url')
}
