interface Entry<Value> {
  readonly credential: string
  readonly value: Value
  /** In milliseconds since 1970. */
  readonly expiresAt: number
}

/** What a verification found, and until when it may be believed without another one. */
export type Verified<Value> = Omit<Entry<Value>, 'credential'>

/** Finds out what a credential means. */
export type Verify<Value> = (credential: string, now: number) => Promise<Verified<Value>>

// Enough to tell credentials apart: of a token, its signature. A table computes a hash of the whole of each text it is asked for,
// which takes as long as SHA-256; comparing two takes nothing.
const keyLength = 43

/**
 * Remembers what verified credentials mean. Bounded; what failed is not remembered; who asks for the same credential at once
 * waits for one verification.
 */
export class VerifiedCache<Value> {
  readonly #entries = new Map<string, Entry<Value>>()
  readonly #pending = new Map<string, Promise<Value>>()
  readonly #maxEntries: number

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries
  }

  /** What the credential means, at once when it is known, else after `verify`. */
  get(credential: string, now: number, verify: Verify<Value>): Value | Promise<Value> {
    const key = credential.slice(-keyLength)
    const entry = this.#entries.get(key)
    if (entry?.credential === credential) {
      if (now < entry.expiresAt) return entry.value
      this.#entries.delete(key)
    }
    let pending = this.#pending.get(credential)
    if (pending === undefined) {
      pending = this.#learn(credential, key, verify(credential, now))
      this.#pending.set(credential, pending)
    }
    return pending
  }

  async #learn(credential: string, key: string, verifying: Promise<Verified<Value>>) {
    try {
      const { value, expiresAt } = await verifying
      if (this.#entries.size >= this.#maxEntries) this.#entries.delete(this.#entries.keys().next().value as string)
      if (this.#maxEntries > 0) this.#entries.set(key, { credential, value, expiresAt })
      return value
    } finally {
      this.#pending.delete(credential)
    }
  }
}
