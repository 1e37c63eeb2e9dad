const minBytes = 32
// 32 random bytes have about 155 bits by this measure, and never less than 125.
const minBits = 120
// One case or capitalised, as people write; random letters are mixed.
const words = /^(?:[A-Z]?[a-z]+|[A-Z]+)(?:[ _.,-]+(?:[A-Z]?[a-z]+|[A-Z]+))*[ _.,-]*[\d!?.]*$/

/** Says in a few words what is wrong with the secret of an HMAC key; `undefined` for one that looks random. */
export function weaknessOf(secret: Uint8Array): string | undefined {
  if (secret.length < minBytes) return `has ${secret.length} bytes and needs at least ${minBytes}`
  const differences = secret.map((byte, index) => byte - (secret[index - 1] ?? 0))
  if (Math.min(bitsOf(secret), bitsOf(differences)) < minBits) return 'repeats itself'
  if (isRepetition(secret)) return 'repeats itself'
  const text = Buffer.from(secret).toString('latin1')
  return words.test(text) ? 'is made of words' : undefined
}

// Shannon's measure: how much the counts of bytes tell, over the whole length.
function bitsOf(bytes: Uint8Array) {
  const counts = new Map<number, number>()
  for (const byte of bytes) counts.set(byte, (counts.get(byte) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= count * Math.log2(count / bytes.length)
  return bits
}

// A text that repeats a part of itself is found in its own double before the end.
function isRepetition(bytes: Uint8Array) {
  return Buffer.concat([bytes, bytes]).indexOf(bytes, 1) < bytes.length
}
