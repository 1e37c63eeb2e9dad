import { createHmac, type KeyObject, sign as signBytes, timingSafeEqual, verify as verifyBytes } from 'node:crypto'
import { type Key, readKey } from './secret.ts'

/** The signed parts of a message: `webhook-id`, `webhook-timestamp` in seconds since the Unix epoch, and the body, exactly as it is sent. */
interface SignedMessage {
  readonly id: string
  readonly timestamp: number
  readonly body: string | Uint8Array
}

/**
 * Returns the `webhook-signature` of a message: one signature for each key, `v1` for a `whsec_` and `v1a` for a `whsk_`, in the order of
 * the keys (Standard Webhooks 1.0). Throws a `TypeError` for an invalid key.
 */
export function signatureOf(message: SignedMessage, keys: readonly string[]): string {
  return keys.map((key) => signWith(readKey(key), message)).join(' ')
}

/** Returns whether one of the signatures is valid for one of the keys (`whsec_`, `whpk_`). */
export function hasValidSignature(message: SignedMessage, signatures: string, keys: readonly Key[]): boolean {
  // Sixteen are more than any rotation needs, and each may cost an elliptic curve operation.
  const given = signatures.split(' ').slice(0, 16)
  return keys.some((key) => given.some((signature) => isSignedWith(key, message, signature)))
}

function signWith({ kind, key }: Key, message: SignedMessage) {
  if (kind === 'secret') return `v1,${hmac(key, message).toString('base64')}`
  if (kind === 'private') return `v1a,${signBytes(null, signedBytes(message), key).toString('base64')}`
  throw new TypeError('webhooks: a public key cannot sign. Use the private key ("whsk_") of the pair.')
}

function isSignedWith({ kind, key }: Key, message: SignedMessage, signature: string) {
  const [version, base64 = ''] = signature.split(',', 2)
  const bytes = Buffer.from(base64, 'base64')
  if (kind === 'secret') return version === 'v1' && bytes.length === 32 && timingSafeEqual(bytes, hmac(key, message))
  return version === 'v1a' && bytes.length === 64 && verifyBytes(null, signedBytes(message), key, bytes)
}

function hmac(secret: KeyObject, message: SignedMessage) {
  return createHmac('sha256', secret).update(prefixOf(message)).update(message.body).digest()
}

function signedBytes(message: SignedMessage) {
  const { body } = message
  return Buffer.concat([Buffer.from(prefixOf(message)), typeof body === 'string' ? Buffer.from(body) : body])
}

function prefixOf({ id, timestamp }: SignedMessage) {
  return `${id}.${timestamp}.`
}
