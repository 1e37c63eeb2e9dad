import { createPrivateKey, createPublicKey, createSecretKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'

// The bytes before the 32 bytes of an ed25519 key in PKCS #8 and SPKI (RFC 8410).
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex')
const spki = Buffer.from('302a300506032b6570032100', 'hex')

/** Returns a new secret for `v1` signatures: `whsec_` and 32 random bytes in base64. */
export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

/** Returns a new pair of ed25519 keys for `v1a` signatures: `whsk_…` for the sender only, and `whpk_…` for the receiver. */
export function newSigningKeyPair(): { readonly privateKey: string; readonly publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const seed = privateKey.export({ type: 'pkcs8', format: 'der' }).subarray(pkcs8.length)
  const point = publicKey.export({ type: 'spki', format: 'der' }).subarray(spki.length)
  return { privateKey: `whsk_${Buffer.concat([seed, point]).toString('base64')}`, publicKey: `whpk_${point.toString('base64')}` }
}

/** A key in the form that `node:crypto` takes. */
export interface Key {
  readonly kind: 'secret' | 'private' | 'public'
  readonly key: KeyObject
}

/** Reads a `whsec_`, `whsk_` or `whpk_` key. Throws a `TypeError` that does not show the key if it is invalid. */
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
  throw new TypeError(
    'webhooks: a key is invalid. A key is "whsec_" followed by 24 to 64 bytes in base64, "whsk_" followed by 64, or "whpk_" followed by 32.'
  )
}

/** Returns the public key (`whpk_`) of a private key (`whsk_`). */
export function publicPartOf(privateKey: string): string {
  return `whpk_${Buffer.from(privateKey.slice('whsk_'.length), 'base64').subarray(32).toString('base64')}`
}
