import { createHmac, sign as signBytes, timingSafeEqual, verify as verifyBytes } from 'node:crypto'
import { type Key, readKey } from './secret.ts'

/** What is signed. */
export interface SignedMessage {
  /** `webhook-id`: the same at each attempt. */
  readonly id: string
  /** `webhook-timestamp`: the moment of the attempt, in seconds since 1970. */
  readonly timestamp: number
  /** The bytes of the body, exactly as they are sent. */
  readonly body: string | Uint8Array
}

/**
 * The `webhook-signature` of a message: one signature by each key, `v1` by a `whsec_`, `v1a` by a `whsk_`, in the order of the keys
 * (Standard Webhooks 1.0). Throws a `TypeError` for a key that is none.
 */
export function signatureOf(message: SignedMessage, keys: readonly string[]): string {
  const text = signedText(message)
  return keys.map((key) => signWith(readKey(key), text)).join(' ')
}

/** Whether one of the signatures in a `webhook-signature` was made with one of the keys (`whsec_`, `whpk_`) for this message. */
export function hasValidSignature(message: SignedMessage, signatures: string, keys: readonly Key[]): boolean {
  const text = signedText(message)
  // Sixteen are more than any rotation needs, and each may cost an elliptic curve.
  const given = signatures.split(' ').slice(0, 16)
  return keys.some((key) => given.some((signature) => isSignedWith(key, text, signature)))
}

function signedText({ id, timestamp, body }: SignedMessage) {
  return Buffer.concat([Buffer.from(`${id}.${timestamp}.`), typeof body === 'string' ? Buffer.from(body) : body])
}

function signWith(key: Key, text: Buffer) {
  if (key.kind === 'secret') return `v1,${hmac(key.bytes, text).toString('base64')}`
  if (key.kind === 'private') return `v1a,${signBytes(null, text, key.key).toString('base64')}`
  throw new TypeError('webhooks: a public key can\'t sign. Give the "whsk_" of the pair.')
}

function isSignedWith(key: Key, text: Buffer, signature: string) {
  const [version, base64 = ''] = signature.split(',', 2)
  const bytes = Buffer.from(base64, 'base64')
  if (key.kind === 'secret') return version === 'v1' && bytes.length === 32 && timingSafeEqual(bytes, hmac(key.bytes, text))
  return version === 'v1a' && bytes.length === 64 && verifyBytes(null, text, key.key, bytes)
}

function hmac(secret: Buffer, text: Buffer) {
  return createHmac('sha256', secret).update(text).digest()
}
