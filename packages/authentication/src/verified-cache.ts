import { hash } from 'node:crypto'

interface Entry<Value> {
  readonly value: Value
  /** In milliseconds since 1970. */
  readonly expiresAt: number
}

/** What a verification found, and until when it may be believed without another one. */
export type Verified<Value> = Entry<Value>

/**
 * Remembers what verified credentials mean, by their hash: the credentials themselves are not kept. Bounded; what failed is not
 * remembered; who asks for the same credential at once waits for one verification.
 */
export class VerifiedCache<Value> {
  readonly #entries = new Map<string, Entry<Value>>()
  readonly #pending = new Map<string, Promise<Value>>()
  readonly #maxEntries: number

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries
  }

  /** What the credential means, at once when it is known, else after `verify`. */
  get(credential: string, now: number, verify: () => Promise<Verified<Value>>): Value | Promise<Value> {
    const key = hash('sha256', credential)
    const entry = this.#entries.get(key)
    if (entry !== undefined) {
      if (now < entry.expiresAt) return entry.value
      this.#entries.delete(key)
    }
    let pending = this.#pending.get(key)
    if (pending === undefined) {
      pending = this.#learn(key, verify)
      this.#pending.set(key, pending)
    }
    return pending
  }

  async #learn(key: string, verify: () => Promise<Verified<Value>>) {
    try {
      const entry = await verify()
      if (this.#entries.size >= this.#maxEntries) this.#entries.delete(this.#entries.keys().next().value as string)
      if (this.#maxEntries > 0) this.#entries.set(key, entry)
      return entry.value
    } finally {
      this.#pending.delete(key)
    }
  }
}
