const minBytes = 32
// By this measure, 32 random bytes have about 155 bits, and never less than 125.
const minBits = 120
// Words in one case or capitalized, as people write them; random letters mix cases.
const words = /^(?:[A-Z]?[a-z]+|[A-Z]+)(?:[ _.,-]+(?:[A-Z]?[a-z]+|[A-Z]+))*[ _.,-]*[\d!?.]*$/

// Secrets that look random and that everyone knows: the examples of RFC 7515 (appendix A.1), of tools for JWTs and of Standard Webhooks.
const published = [
  'AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow',
  'a-string-secret-at-least-256-bits-long',
  'a-valid-string-secret-that-is-at-least-384-bits-long',
  'a-valid-string-secret-that-is-at-least-512-bits-long-which-is-very-long',
  'qwertyuiopasdfghjklzxcvbnm123456',
  'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
].flatMap((text) => [Buffer.from(text), Buffer.from(text, 'base64url')])

/** Returns a phrase for an error message that says why an HMAC secret is weak, or `undefined` if the secret looks random. */
export function weaknessOf(secret: Uint8Array): string | undefined {
  if (secret.length < minBytes) return `has ${secret.length} bytes and needs at least ${minBytes}`
  if (published.some((known) => known.equals(secret))) return 'is published as an example'
  const differences = secret.map((byte, index) => byte - (secret[index - 1] ?? 0))
  if (Math.min(bitsOf(secret), bitsOf(differences)) < minBits) return 'repeats itself'
  if (isRepetition(secret)) return 'repeats itself'
  const text = Buffer.from(secret).toString('latin1')
  return words.test(text) ? 'consists of words' : undefined
}

// Shannon entropy of the byte counts, multiplied by the length.
function bitsOf(bytes: Uint8Array) {
  const counts = new Map<number, number>()
  for (const byte of bytes) counts.set(byte, (counts.get(byte) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= count * Math.log2(count / bytes.length)
  return bits
}

// A string that consists of a repeated part occurs in its own double before the end.
function isRepetition(bytes: Uint8Array) {
  return Buffer.concat([bytes, bytes]).indexOf(bytes, 1) < bytes.length
}
