/** All refresh tokens that follow one sign-in: a session. Times in milliseconds since 1970. */
export interface RefreshFamily {
  /** The session's id, `sid` of its access tokens. */
  readonly id: string
  /** The hash under which the family is found. */
  readonly handle: string
  /** The user. */
  readonly subject: string
  /** The client application that signed in; only this one may use the tokens. */
  readonly clientId?: string | undefined
  readonly beganAt: number
  /** From here on no token of the family is good, however often it was used. */
  readonly expiresAt: number
}

/** One presentation of a refresh token. `handle`, `secret` and `successor` are hashes. */
export interface RefreshTokenUse {
  readonly handle: string
  readonly secret: string
  /** The secret of the token that replaces this one, in case it is replaced. */
  readonly successor: string
  readonly clientId?: string | undefined
  readonly now: number
  /** How long after its replacement a token may come again. */
  readonly graceMilliseconds: number
  /** How long the family may rest after this use. */
  readonly idleMilliseconds: number
}

/**
 * What became of a use:
 * - `rotated`: the token was the newest; its successor is now
 * - `repeated`: it was replaced less than the grace ago; `newest` is the secret of the one that replaced it, and nothing changed
 * - `reused`: it was replaced longer ago, is older than that, or came from another client; the family is revoked by this
 * - `revoked`: the family had been revoked
 * - `expired`: the family has rested too long or lived too long
 * - `unknown`: there is no such family, or its time was over so long ago that it was forgotten
 */
export type RefreshOutcome =
  | { readonly outcome: 'rotated' | 'repeated'; readonly family: RefreshFamily; readonly newest: string }
  | { readonly outcome: 'reused'; readonly family: RefreshFamily }
  | { readonly outcome: 'revoked'; readonly family: RefreshFamily }
  | { readonly outcome: 'expired'; readonly family: RefreshFamily }
  | { readonly outcome: 'unknown' }

/**
 * Where refresh tokens are kept, one record a family, whatever the number of its tokens. Each method takes effect at one moment,
 * against all other processes: in PostgreSQL under the lock of the record's row, in Redis inside one script.
 */
export interface RefreshTokenStore {
  /** Keeps a new family, whose newest token has this secret, until its `expiresAt`; rejects when its handle or id is taken. */
  begin(family: RefreshFamily, secret: string, idleExpiresAt: number): Promise<void>
  /**
   * Judges a use in the order revoked, expired, other client, newest, replaced within the grace, reused; of all uses of
   * the newest token at once, exactly one is told `rotated`.
   */
  use(use: RefreshTokenUse): Promise<RefreshOutcome>
  /** Revokes the family with this handle and answers it; `undefined` when there is none. Repeating changes nothing. */
  revokeHandle(handle: string): Promise<RefreshFamily | undefined>
  /** Revokes the family with this id, if there is one. */
  revokeFamily(id: string): Promise<void>
  /** Revokes every family of this subject that has begun. */
  revokeSubject(subject: string): Promise<void>
  /** Revokes every family that has begun. */
  revokeAll(): Promise<void>
}
