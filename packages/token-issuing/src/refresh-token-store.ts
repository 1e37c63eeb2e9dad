const maxFamilies = 100_000

/** A session: all refresh tokens that follow one sign-in. Times are in milliseconds since the Unix epoch. */
export interface RefreshFamily {
  /** The id of the session, which is the `sid` of its access tokens. */
  readonly id: string
  /** The hash by which the family is found. */
  readonly handle: string
  readonly subject: string
  /** The client application that signed in. Only this client may use the tokens. */
  readonly clientId?: string | undefined
  readonly beganAt: number
  /** The time from which no token of the family is valid, however recently one was used. */
  readonly expiresAt: number
}

/** One use of a refresh token. `handle`, `secret` and `successor` are hashes. */
export interface RefreshTokenUse {
  readonly handle: string
  readonly secret: string
  /** The secret of the token that replaces this one if the store rotates it. */
  readonly successor: string
  readonly clientId?: string | undefined
  readonly now: number
  /** How long after its replacement a token may be repeated. */
  readonly reuseGraceMs: number
  /** How long the family may be idle after this use. */
  readonly idleMs: number
}

/**
 * The outcome of a use:
 * - `rotated`: the token was the newest; now its successor is the newest
 * - `repeated`: it was replaced within the grace period; `newest` is the secret of its replacement, and nothing changed
 * - `reused`: it was replaced before the grace period, is older than that, or came from another client; this revoked the family
 * - `revoked`: the family was already revoked
 * - `expired`: the family was idle for too long or has reached its maximum lifetime
 * - `unknown`: the family does not exist, or expired so long ago that it was removed
 */
export type RefreshOutcome =
  | { readonly outcome: 'rotated' | 'repeated'; readonly family: RefreshFamily; readonly newest: string }
  | { readonly outcome: 'reused'; readonly family: RefreshFamily }
  | { readonly outcome: 'revoked'; readonly family: RefreshFamily }
  | { readonly outcome: 'expired'; readonly family: RefreshFamily }
  | { readonly outcome: 'unknown' }

/** Stores refresh tokens, one record per family, whatever the number of its tokens. Each method is atomic across all processes. */
export interface RefreshTokenStore {
  /** Stores a new family with the secret of its newest token until `expiresAt`; rejects when its handle or id already exists. */
  begin(family: RefreshFamily, secret: string, idleExpiresAt: number): Promise<void>
  /**
   * Uses a token and returns the outcome, which is checked in this order: revoked, expired, other client, newest, replaced within the grace
   * period, reused. Of all concurrent uses of the newest token, exactly one returns `rotated`.
   */
  use(use: RefreshTokenUse): Promise<RefreshOutcome>
  /** Revokes the family with this handle and returns it, or `undefined` if it does not exist. Idempotent. */
  revokeHandle(handle: string): Promise<RefreshFamily | undefined>
  /** Revokes the family with this id, if it exists. */
  revokeFamily(id: string): Promise<void>
  /** Revokes every existing family of this subject. */
  revokeSubject(subject: string): Promise<void>
  /** Revokes every existing family. */
  revokeAll(): Promise<void>
}

interface StoredSession {
  readonly family: RefreshFamily
  newest: string
  /** The secret before the newest, and when it was replaced. */
  replaced: { readonly secret: string; readonly at: number } | undefined
  idleExpiresAt: number
  revoked: boolean
}

/**
 * Creates a store of refresh tokens in the memory of one process; a restart ends all sessions. Beyond 100,000 sessions, the one that was idle longest
 * is removed.
 */
export function memoryRefreshTokenStore(): RefreshTokenStore {
  // In order of last use.
  const byHandle = new Map<string, StoredSession>()
  const byId = new Map<string, StoredSession>()

  function forget({ family }: StoredSession) {
    byHandle.delete(family.handle)
    byId.delete(family.id)
  }

  return {
    async begin(family, secret, idleExpiresAt) {
      if (byHandle.has(family.handle) || byId.has(family.id))
        throw new Error('token-issuing: a refresh token family with this id or handle already exists. Create it again, with a new id.')
      for (const stored of byHandle.values()) {
        if (byHandle.size < maxFamilies && !isOver(stored, family.beganAt)) break
        forget(stored)
      }
      const stored = { family: { ...family }, newest: secret, replaced: undefined, idleExpiresAt, revoked: false }
      byHandle.set(family.handle, stored)
      byId.set(family.id, stored)
    },
    async use(use) {
      const stored = byHandle.get(use.handle)
      if (stored === undefined) return { outcome: 'unknown' }
      byHandle.delete(use.handle)
      byHandle.set(use.handle, stored)
      return judge(stored, use)
    },
    async revokeHandle(handle) {
      const stored = byHandle.get(handle)
      if (stored) stored.revoked = true
      return stored && { ...stored.family }
    },
    async revokeFamily(id) {
      const stored = byId.get(id)
      if (stored) stored.revoked = true
    },
    async revokeSubject(subject) {
      for (const stored of byId.values()) if (stored.family.subject === subject) stored.revoked = true
    },
    async revokeAll() {
      for (const stored of byId.values()) stored.revoked = true
    }
  }
}

function judge(stored: StoredSession, { secret, successor, clientId, now, reuseGraceMs, idleMs }: RefreshTokenUse): RefreshOutcome {
  const family = { ...stored.family }
  if (stored.revoked) return { outcome: 'revoked', family }
  if (isOver(stored, now)) return { outcome: 'expired', family }
  if (clientId === family.clientId) {
    if (secret === stored.newest) {
      stored.replaced = { secret, at: now }
      stored.newest = successor
      stored.idleExpiresAt = now + idleMs
      return { outcome: 'rotated', family, newest: successor }
    }
    if (secret === stored.replaced?.secret && now - stored.replaced.at < reuseGraceMs) {
      return { outcome: 'repeated', family, newest: stored.newest }
    }
  }
  stored.revoked = true
  return { outcome: 'reused', family }
}

function isOver({ family, idleExpiresAt }: StoredSession, now: number) {
  return now >= Math.min(family.expiresAt, idleExpiresAt)
}
