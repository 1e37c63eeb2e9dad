import { createHash, hash } from 'node:crypto'

// In every tag, so that a change of what is hashed changes them all.
const form = 'concordat 1'
const algorithm = 'sha256'
// 132 bits: enough that two contents never share a tag.
const length = 22

/**
 * The tag of a body, without quotes: a hash of its bytes less `tailLength` characters at the end, and of its media type. It depends on
 * nothing else, so that every process has the same (rule C6).
 */
export function contentTag(payload: string | Buffer, mediaType: string, tailLength: number): string {
  const prefix = `${form}\n${mediaType}\n`
  const digest =
    typeof payload === 'string'
      ? hash(algorithm, prefix + payload.slice(0, payload.length - tailLength), 'base64url')
      : createHash(algorithm).update(prefix).update(payload).digest('base64url')
  return digest.slice(0, length)
}
