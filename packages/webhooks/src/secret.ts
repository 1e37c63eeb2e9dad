import { createPrivateKey, createPublicKey, createSecretKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'

/** A pair of keys for signatures that the receiver can check and not make (Standard Webhooks `v1a`). */
export interface SigningKeyPair {
  /** `whsk_…`: stays with the sender. */
  readonly privateKey: string
  /** `whpk_…`: for the receiver. */
  readonly publicKey: string
}

// What stands before the 32 bytes of an ed25519 key in PKCS #8 and SPKI (RFC 8410).
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex')
const spki = Buffer.from('302a300506032b6570032100', 'hex')

/** A new secret for `v1` signatures: `whsec_` and 32 random bytes in base64. */
export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

/** A new pair of ed25519 keys for `v1a` signatures. */
export function newSigningKeyPair(): SigningKeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const seed = privateKey.export({ type: 'pkcs8', format: 'der' }).subarray(pkcs8.length)
  const point = publicKey.export({ type: 'spki', format: 'der' }).subarray(spki.length)
  return { privateKey: `whsk_${Buffer.concat([seed, point]).toString('base64')}`, publicKey: `whpk_${point.toString('base64')}` }
}

/** A key as the cryptography takes it. */
export interface Key {
  readonly kind: 'secret' | 'private' | 'public'
  readonly key: KeyObject
}

/** Reads `whsec_`, `whsk_` and `whpk_`. Throws a `TypeError` that does not show the key, when it is none. */
export function readKey(text: string): Key {
  const [, prefix, base64 = ''] = /^(whsec|whsk|whpk)_([A-Za-z\d+/]+={0,2})$/.exec(text) ?? []
  const bytes = Buffer.from(base64, 'base64')
  if (prefix === 'whsec' && bytes.length >= 24 && bytes.length <= 64) return { kind: 'secret', key: createSecretKey(bytes) }
  if (prefix === 'whsk' && bytes.length === 64) {
    const der = Buffer.concat([pkcs8, bytes.subarray(0, 32)])
    return { kind: 'private', key: createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }) }
  }
  if (prefix === 'whpk' && bytes.length === 32) {
    return { kind: 'public', key: createPublicKey({ key: Buffer.concat([spki, bytes]), format: 'der', type: 'spki' }) }
  }
  throw new TypeError('webhooks: a key is none. Give "whsec_" and 24 to 64 bytes in base64, "whsk_" and 64, or "whpk_" and 32.')
}

/** The `whpk_` of a `whsk_`. */
export function publicKeyOf(privateKey: string): string {
  return `whpk_${Buffer.from(privateKey.slice('whsk_'.length), 'base64').subarray(32).toString('base64')}`
}
