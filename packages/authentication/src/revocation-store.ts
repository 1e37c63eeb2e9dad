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
  /** The cursor for the next read. */
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
