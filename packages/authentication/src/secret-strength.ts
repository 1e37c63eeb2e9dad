const minBytes = 32
// By this measure, 32 random bytes have about 155 bits, and never less than 125.
const minBits = 120
// Words in one case or capitalized, as people write them; random letters mix cases.
const words = /^(?:[A-Z]?[a-z]+|[A-Z]+)(?:[ _.,-]+(?:[A-Z]?[a-z]+|[A-Z]+))*[ _.,-]*[\d!?.]*$/

/** Returns a phrase for an error message that says why an HMAC secret is weak, or `undefined` if the secret looks random. */
export function weaknessOf(secret: Uint8Array): string | undefined {
  if (secret.length < minBytes) return `has ${secret.length} bytes and needs at least ${minBytes}`
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
