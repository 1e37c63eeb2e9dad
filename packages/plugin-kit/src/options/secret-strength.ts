const leastBytes = 32
// By this measure, 32 random bytes have about 155 bits, and never less than 125.
const leastBitsPerByte = 3.75
// Words in one case or capitalized, as people write them; random letters mix cases.
const words = /^(?:[A-Z]?[a-z]+|[A-Z]+)(?:[ _.,-]+(?:[A-Z]?[a-z]+|[A-Z]+))*[ _.,-]*[\d!?.]*$/

// The most frequent pairs of letters in English, of which most are frequent in German, French and Spanish too: where four in ten characters begin
// one, words are joined or separated in another way. In base64, this is true for less than one in a million random secrets.
const pairs = new Set(
  `th he in er an re nd at on nt ha es st en ed to it ou ea hi is or ti as te et ng of al de se le sa si ar ve ra ld ur ll ne me ri ro ic co io
  la el ch ec cr om ma ta be us li no lo ss ce wo il ee ke so ly do da ad pr op ov vi ev nc un di ac tr em im mo ns ot rd ct ow ut ai ie ge ca
  po ue os id am iv sh ay ey`.split(/\s+/)
)
const leastPairs = 0.4

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

/**
 * Returns a phrase for an error message that says why a secret is weak, such as `consists of words`, or `undefined` if the secret looks random.
 * The bytes count, so pass a text as its UTF-8.
 */
export function weaknessOf(secret: string | Uint8Array, minBytes: number = leastBytes): string | undefined {
  const bytes = Buffer.from(secret as string)
  if (bytes.length < minBytes) return `has ${bytes.length} bytes and needs at least ${minBytes}`
  if (published.some((known) => known.equals(bytes))) return 'is published as an example'
  if (isRepetition(bytes)) return 'repeats itself'
  const differences = bytes.map((byte, index) => byte - (bytes[index - 1] ?? 0))
  if (Math.min(bitsOf(bytes), bitsOf(differences)) < leastBitsPerByte * minBytes) return 'is not random enough'
  const text = bytes.toString('latin1')
  return words.test(text) || pairsIn(text.toLowerCase()) >= leastPairs * text.length ? 'consists of words' : undefined
}

function pairsIn(text: string) {
  let count = 0
  for (let index = 1; index < text.length; index += 1) if (pairs.has(text.slice(index - 1, index + 1))) count += 1
  return count
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
