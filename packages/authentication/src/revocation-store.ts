/** One revocation. Times in milliseconds since 1970. */
export interface Revocation {
  /** What ends: one token by its `jti`, a session by its `sid`, all tokens of a user by `sub`, or all there are. */
  readonly kind: 'token' | 'session' | 'subject' | 'everything'
  /** The `jti`, `sid` or `sub`; empty for everything. */
  readonly id: string
  /** For subject and everything: tokens issued before this moment end, later ones don't. */
  readonly issuedBefore?: number | undefined
  /** When the last token that it concerns has expired anyway; then it may be forgotten. */
  readonly until: number
}

/** What was revoked since the last look. */
export interface RevocationPage {
  readonly revocations: readonly Revocation[]
  /** For the next look. */
  readonly cursor: string
}

/** Where revocations are kept, and how other processes hear of them. */
export interface RevocationStore {
  /**
   * Keeps a revocation until its `until`; a second one of the same kind and id keeps the later times of the two. When it
   * has resolved, every `read` shows it.
   */
  revoke(revocation: Revocation): Promise<void>
  /**
   * Answers every living revocation that was kept, or prolonged, after the cursor was given, and maybe some from before;
   * without a cursor, or with one that the store no longer knows, all living ones.
   */
  read(cursor?: string): Promise<RevocationPage>
  /**
   * From when it has resolved, calls `wake` soon after each `revoke` of any process. Calls `lost` at most once, when that can
   * no longer be promised. The answer ends the subscription, and never rejects.
   */
  subscribe(wake: () => void, lost: () => void): Promise<() => Promise<void>>
}
