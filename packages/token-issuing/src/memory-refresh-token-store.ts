import { optionChecks, requireKnownNames } from '@concordat/plugin-options'
import type { RefreshFamily, RefreshOutcome, RefreshTokenStore, RefreshTokenUse } from './refresh-token-store.ts'

const check = optionChecks('token-issuing')

interface Kept {
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
  const byHandle = new Map<string, Kept>()
  const byId = new Map<string, Kept>()

  function forget({ family }: Kept) {
    byHandle.delete(family.handle)
    byId.delete(family.id)
  }

  return {
    async begin(family, secret, idleExpiresAt) {
      if (byHandle.has(family.handle) || byId.has(family.id))
        throw new Error('token-issuing: a refresh token family with this id or handle already exists. Create it again, with a new id.')
      for (const kept of byHandle.values()) {
        if (byHandle.size < maxFamilies && !isOver(kept, family.beganAt)) break
        forget(kept)
      }
      const kept = { family: { ...family }, newest: secret, replaced: undefined, idleExpiresAt, revoked: false }
      byHandle.set(family.handle, kept)
      byId.set(family.id, kept)
    },
    async use(use) {
      const kept = byHandle.get(use.handle)
      if (kept === undefined) return { outcome: 'unknown' }
      byHandle.delete(use.handle)
      byHandle.set(use.handle, kept)
      return judge(kept, use)
    },
    async revokeHandle(handle) {
      const kept = byHandle.get(handle)
      if (kept) kept.revoked = true
      return kept && { ...kept.family }
    },
    async revokeFamily(id) {
      const kept = byId.get(id)
      if (kept) kept.revoked = true
    },
    async revokeSubject(subject) {
      for (const kept of byId.values()) if (kept.family.subject === subject) kept.revoked = true
    },
    async revokeAll() {
      for (const kept of byId.values()) kept.revoked = true
    }
  }
}

function judge(kept: Kept, { secret, successor, clientId, now, reuseGraceMs, idleMs }: RefreshTokenUse): RefreshOutcome {
  const family = { ...kept.family }
  if (kept.revoked) return { outcome: 'revoked', family }
  if (isOver(kept, now)) return { outcome: 'expired', family }
  if (clientId === family.clientId) {
    if (secret === kept.newest) {
      kept.replaced = { secret, at: now }
      kept.newest = successor
      kept.idleExpiresAt = now + idleMs
      return { outcome: 'rotated', family, newest: successor }
    }
    if (secret === kept.replaced?.secret && now - kept.replaced.at < reuseGraceMs) {
      return { outcome: 'repeated', family, newest: kept.newest }
    }
  }
  kept.revoked = true
  return { outcome: 'reused', family }
}

function isOver({ family, idleExpiresAt }: Kept, now: number) {
  return now >= Math.min(family.expiresAt, idleExpiresAt)
}
