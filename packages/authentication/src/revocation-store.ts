/** A revocation. Times are in milliseconds since the Unix epoch. */
export interface Revocation {
  /** What is revoked: one token by its `jti`, a session by its `sid`, all tokens of a user by `sub`, or all tokens. */
  readonly kind: 'token' | 'session' | 'subject' | 'everything'
  /** The `jti`, `sid` or `sub`; empty for `everything`. */
  readonly id: string
  /** For `subject` and `everything`: only tokens that were issued before this time are revoked. */
  readonly issuedBefore?: number | undefined
  /** The time at which the last affected token expires. From then on, the revocation may be removed. */
  readonly until: number
}

/** The result of a read: the revocations, and the cursor for the next read. */
export interface RevocationPage {
  readonly revocations: readonly Revocation[]
  readonly cursor: string
}

/** Stores revocations and notifies other processes of them. */
export interface RevocationStore {
  /**
   * Stores a revocation until its `until`, or updates the stored revocation of the same kind and id to the later `issuedBefore` and the
   * later `until` of the two. After the promise has resolved, every `read` returns it.
   */
  revoke(revocation: Revocation): Promise<void>
  /**
   * Returns every unexpired revocation that was stored or extended after the cursor was issued, and possibly some earlier revocations; without a
   * cursor, or with a cursor that the store no longer knows, returns all unexpired revocations.
   */
  read(cursor?: string): Promise<RevocationPage>
  /**
   * Subscribes to new revocations: after the promise has resolved, calls `wake` soon after each `revoke` by any process. Calls `lost` at most
   * once, when this is no longer guaranteed. The returned function ends the subscription, and never rejects.
   */
  subscribe(wake: () => void, lost: () => void): Promise<() => Promise<void>>
}

/** Stores revocations in the memory of one process, for tests and single-process services. */
export function memoryRevocationStore(now: () => number = () => Date.now()): RevocationStore {
  // In order of last change, which is nearly the order of `until`.
  const entries = new Map<string, { readonly revocation: Revocation; readonly number: number }>()
  const listeners = new Set<() => void>()
  let number = 0

  return {
    async revoke({ kind, id, issuedBefore = 0, until }) {
      for (const [key, { revocation }] of entries) {
        if (revocation.until > now()) break
        entries.delete(key)
      }
      const key = `${kind} ${id}`
      const before = entries.get(key)?.revocation
      const latest = Math.max(issuedBefore, before?.issuedBefore ?? 0)
      const revocation = { kind, id, ...(latest > 0 && { issuedBefore: latest }), until: Math.max(until, before?.until ?? 0) }
      number += 1
      entries.delete(key)
      entries.set(key, { revocation, number })
      for (const wake of listeners) wake()
    },
    async read(cursor = '0') {
      // A cursor that is not a number comes before everything.
      const known = Number(cursor) || 0
      const news = [...entries.values()].filter((entry) => entry.number > known && entry.revocation.until > now())
      return { revocations: news.map(({ revocation }) => revocation), cursor: String(number) }
    },
    async subscribe(wake) {
      // Wrapped, so that a listener that subscribes twice is called twice, and each subscription ends on its own.
      const listener = () => wake()
      listeners.add(listener)
      return async () => void listeners.delete(listener)
    }
  }
}
