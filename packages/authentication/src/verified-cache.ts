/** The result of a verification, and the time until which it may be cached, in milliseconds since the Unix epoch. */
export interface Verified<Value> {
  readonly value: Value
  readonly expiresAt: number
}

type Verify<Value> = (credential: string, now: number) => Promise<Verified<Value>>

// The end of a credential distinguishes it: for a token, the signature. A Map hashes the whole of each key that it looks up, which
// takes as long as SHA-256; comparing two strings costs almost nothing.
const keyLength = 43
const maxEntries = 10_000

/**
 * Caches the results of verifying credentials. The cache is bounded, and failures are not cached. Concurrent requests with the same
 * credential share one verification.
 */
export class VerifiedCache<Value> {
  readonly #entries = new Map<string, Verified<Value> & { readonly credential: string }>()
  readonly #pending = new Map<string, Promise<Value>>()

  /** Returns the result for a credential, synchronously when it is cached, otherwise after `verify`. */
  get(credential: string, now: number, verify: Verify<Value>): Value | Promise<Value> {
    const key = credential.slice(-keyLength)
    const entry = this.#entries.get(key)
    if (entry?.credential === credential) {
      if (now < entry.expiresAt) return entry.value
      this.#entries.delete(key)
    }
    let pending = this.#pending.get(credential)
    if (pending === undefined) {
      pending = this.#learn(credential, key, now, verify(credential, now))
      this.#pending.set(credential, pending)
    }
    return pending
  }

  async #learn(credential: string, key: string, now: number, verifying: Promise<Verified<Value>>) {
    try {
      const { value, expiresAt } = await verifying
      // With a cache of 0 seconds, memory holds no token.
      if (expiresAt <= now) return value
      if (this.#entries.size >= maxEntries) this.#entries.delete(this.#entries.keys().next().value as string)
      this.#entries.set(key, { credential, value, expiresAt })
      return value
    } finally {
      this.#pending.delete(credential)
    }
  }
}
