import { createHash, hash } from 'node:crypto'

// In every tag, so that a change of what is hashed changes them all.
const form = 'concordat 1'
const algorithm = 'sha256'
// 132 bits: enough that two contents never share a tag.
const length = 22
const mostBytesOfCharacter = 3
// Text is written here, and hashed at once: as a string it would be copied twice before, which takes half as long as the hash.
const room = Buffer.allocUnsafeSlow(256 * 1024)

/**
 * The tag of a body, without quotes: a hash of its bytes less `tailLength` characters at the end, and of its media type. It depends on
 * nothing else, so that every process has the same (rule C6).
 */
export function contentTag(payload: string | Buffer, mediaType: string, tailLength: number): string {
  const prefix = `${form}\n${mediaType}\n`
  const content = typeof payload === 'string' ? payload.slice(0, payload.length - tailLength) : payload
  return digestOf(prefix, content).slice(0, length)
}

function digestOf(prefix: string, content: string | Buffer) {
  if (typeof content === 'string' && (prefix.length + content.length) * mostBytesOfCharacter <= room.length) {
    const start = room.write(prefix)
    return hash(algorithm, room.subarray(0, start + room.write(content, start)), 'base64url')
  }
  return createHash(algorithm).update(prefix).update(content).digest('base64url')
}
