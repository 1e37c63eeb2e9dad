import { optionChecks, requireKnownNames } from '@concordat/plugin-options'
import type { RefreshFamily, RefreshOutcome, RefreshTokenStore, RefreshTokenUse } from './refresh-token-store.ts'

const check = optionChecks('token-issuing')

interface StoredSession {
  readonly family: RefreshFamily
  newest: string
  /** The secret before the newest, and when it was replaced. */
  replaced: { readonly secret: string; readonly at: number } | undefined
  idleExpiresAt: number
  revoked: boolean
}

/** Options of {@link memoryRefreshTokenStore}. */
export interface MemoryRefreshTokenStoreOptions {
  /** How many sessions are stored. Beyond that, the session that was idle longest is removed. @default 100000 */
  readonly maxFamilies?: number | undefined
}

/** Creates a store of refresh tokens in the memory of one process, for tests and single-process services; a restart ends all sessions. */
export function memoryRefreshTokenStore(options: MemoryRefreshTokenStoreOptions = {}): RefreshTokenStore {
  requireKnownNames('token-issuing', options, { maxFamilies: true })
  const { maxFamilies = 100_000 } = options
  check.integer('options.maxFamilies', maxFamilies, 1, 10_000_000)
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
