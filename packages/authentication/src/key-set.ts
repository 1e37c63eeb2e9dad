import { createPublicKey, type JsonWebKey } from 'node:crypto'

/** The keys of a set that can be used, and what is wrong with the others. */
interface SortedKeys {
  readonly usable: readonly JsonWebKey[]
  readonly faults: readonly string[]
}

/**
 * Sorts the entries of a key set (RFC 7517 §5: "implementations SHOULD ignore JWKs within a JWK Set that use kty values that are not understood by them, that
 * are missing required members, or for which values are out of the supported ranges"). No fault quotes a member of a key besides its `kid`.
 */
export function sortKeys(keys: readonly unknown[]): SortedKeys {
  const usable: JsonWebKey[] = []
  const faults: string[] = []
  for (const [at, entry] of keys.entries()) {
    const fault = faultOf(entry)
    if (fault === undefined) usable.push(entry as JsonWebKey)
    else faults.push(`${nameOf(entry) ?? `entry ${at}`} ${fault}`)
  }
  return { usable, faults }
}

function faultOf(entry: unknown) {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return 'is not an object'
  // Its owner has published a secret: it must not be trusted, although its public half could be read.
  if ('d' in entry || 'k' in entry) return 'is not a public key'
  if ('kid' in entry && typeof entry.kid !== 'string') return 'has a kid that is not a string'
  try {
    createPublicKey({ key: entry as JsonWebKey, format: 'jwk' })
    return undefined
  } catch {
    return 'has an unknown type or invalid members'
  }
}

function nameOf(entry: unknown) {
  const { kid } = (entry ?? {}) as { readonly kid?: unknown }
  return typeof kid === 'string' ? JSON.stringify(kid.slice(0, 100)) : undefined
}
