import { createHmac, type KeyObject, sign as signBytes, timingSafeEqual, verify as verifyBytes } from 'node:crypto'
import { type Key, readKey } from './secret.ts'

/** The signed parts of a message: `webhook-id`, `webhook-timestamp` in seconds since the Unix epoch, and the body, exactly as it is sent. */
interface SignedMessage {
  readonly id: string
  readonly timestamp: number
  readonly body: string | Uint8Array
}

// A rotation sends two. Each reads the whole body.
const maxPublicKeySignatures = 4

/**
 * Returns the `webhook-signature` of a message: one signature for each key, `v1` for a `whsec_` and `v1a` for a `whsk_`, in the order of
 * the keys (Standard Webhooks 1.0). Throws a `TypeError` for an invalid key.
 */
export function signatureOf(message: SignedMessage, keys: readonly string[]): string {
  return keys.map((key) => signWith(readKey(key), message)).join(' ')
}

/** Returns whether one of the signatures is valid for one of the keys (`whsec_`, `whpk_`). */
export function hasValidSignature(message: SignedMessage, signatures: string, keys: readonly Key[]): boolean {
  const given = signatures.split(' ').map((signature) => signature.split(',', 2) as [version: string, base64?: string])
  const decoded = (version: string, bytes: number) =>
    given
      .flatMap(([name, base64 = '']) => (name === version ? [Buffer.from(base64, 'base64')] : []))
      .filter(({ length }) => length === bytes)
  const macs = decoded('v1', 32)
  const points = decoded('v1a', 64).slice(0, maxPublicKeySignatures)
  let signed: Buffer | undefined
  // A header with many signatures must not make the body be read as often: a MAC is computed once for each key.
  return keys.some(({ kind, key }) => {
    if (kind !== 'secret') return points.some((point) => verifyBytes(null, (signed ??= signedBytes(message)), key, point))
    const expected = macs.length > 0 ? hmac(key, message) : undefined
    return expected !== undefined && macs.some((mac) => timingSafeEqual(mac, expected))
  })
}

function signWith({ kind, key }: Key, message: SignedMessage) {
  if (kind === 'secret') return `v1,${hmac(key, message).toString('base64')}`
  if (kind === 'private') return `v1a,${signBytes(null, signedBytes(message), key).toString('base64')}`
  throw new TypeError('webhooks: a public key cannot sign. Use the private key ("whsk_") of the pair.')
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
