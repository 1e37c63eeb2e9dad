import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto'
import type { CursorKey, CursorKeys } from './keys.ts'

// A token is base64url(version | key id | tag | payload). A tag of 16 bytes cannot be found by trying values.
const signed = 1
const encrypted = 2
const tagLength = 16
const nonceLength = 12

/**
 * Returns the token for the payload of a cursor: signed or, if clients must not read it, encrypted with AES-256-GCM. The nonce is a
 * digest of the payload, so the same payload gives the same token, and the links of a response do not change.
 */
export function sealToken(payload: string, keys: CursorKeys, secret: boolean): string {
  const [key] = keys
  const head = Buffer.from([secret ? encrypted : signed, key.id])
  const body = secret ? encrypt(key, head, Buffer.from(payload)) : Buffer.from(payload)
  return Buffer.concat([head, ...(secret ? [] : [tagOf(key, head, body)]), body]).toString('base64url')
}

/** Returns the payload of a token, or undefined if the token does not match any of the keys or has another version. */
export function openToken(token: string, keys: CursorKeys, secret: boolean): string | undefined {
  if (!/^[\w-]+$/.test(token)) return undefined
  const bytes = Buffer.from(token, 'base64url')
  // Each token has a single spelling: the unused bits of the last character must not allow another.
  if (bytes.toString('base64url') !== token) return undefined
  if (bytes[0] !== (secret ? encrypted : signed)) return undefined
  const head = bytes.subarray(0, 2)
  for (const key of keys) {
    if (key.id !== bytes[1]) continue
    const payload = secret ? decrypt(key, head, bytes.subarray(2)) : verify(key, head, bytes.subarray(2))
    if (payload !== undefined) return payload.toString()
  }
  return undefined
}

function tagOf({ signing }: CursorKey, head: Buffer, body: Buffer) {
  return createHmac('sha256', signing).update(head).update(body).digest().subarray(0, tagLength)
}

function verify(key: CursorKey, head: Buffer, bytes: Buffer): Buffer | undefined {
  const body = bytes.subarray(tagLength)
  return bytes.length > tagLength && timingSafeEqual(bytes.subarray(0, tagLength), tagOf(key, head, body)) ? body : undefined
}

function encrypt(key: CursorKey, head: Buffer, payload: Buffer): Buffer {
  const nonce = tagOf(key, head, payload).subarray(0, nonceLength)
  const cipher = createCipheriv('aes-256-gcm', key.encryption, nonce, { authTagLength: tagLength }).setAAD(head)
  const text = Buffer.concat([cipher.update(payload), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), text])
}

function decrypt(key: CursorKey, head: Buffer, bytes: Buffer): Buffer | undefined {
  const start = nonceLength + tagLength
  if (bytes.length <= start) return undefined
  const decipher = createDecipheriv('aes-256-gcm', key.encryption, bytes.subarray(0, nonceLength), { authTagLength: tagLength })
  decipher.setAAD(head).setAuthTag(bytes.subarray(nonceLength, start))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(start)), decipher.final()])
  } catch {
    return undefined
  }
}
