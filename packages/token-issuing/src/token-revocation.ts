import { setTimeout as delay } from 'node:timers/promises'
import type { Settings } from './options.ts'
import { readRefreshToken } from './refresh-token.ts'

const toleranceMs = 61_000

/** Creates the methods of a token issuer that revoke tokens. */
export function tokenRevocation(settings: Settings) {
  const { revocations } = settings
  const { refreshTokens } = settings.stores

  async function endBefore(kind: 'subject' | 'everything', id: string) {
    // Read after the families have ended, so that none of them can produce a token with a later `iat`.
    await revocations.revoke({ kind, id, issuedBefore: Date.now() + 1, until: untilOf(settings) })
    // Resolves in a later millisecond, so that a sign-in after it is not affected.
    await delay(2)
  }

  return {
    async revokeRefreshToken(text: string) {
      const token = readRefreshToken(text)
      if (token === undefined) return false
      const family = await refreshTokens.revokeHandle(token.handle)
      if (family !== undefined) await endSession(settings, family.id)
      return true
    },
    async revokeAccessToken({
      jti,
      sid,
      exp
    }: {
      readonly jti?: string | undefined
      readonly sid?: string | undefined
      readonly exp: number
    }) {
      if (sid !== undefined) await revokeSession(settings, sid)
      else if (jti !== undefined)
        await revocations.revoke({ kind: 'token', id: jti, until: Math.max(untilOf(settings), exp * 1000 + toleranceMs) })
    },
    revokeSession: async (sid: string) => revokeSession(settings, sid),
    async revokeSubject(subject: string) {
      await refreshTokens.revokeSubject(subject)
      await endBefore('subject', subject)
    },
    async revokeEverything() {
      await refreshTokens.revokeAll()
      await endBefore('everything', '')
    }
  }
}

/** Ends a session: its refresh tokens and its access tokens. */
export async function revokeSession(settings: Settings, sid: string): Promise<void> {
  await settings.stores.refreshTokens.revokeFamily(sid)
  await endSession(settings, sid)
}

/** Revokes the access tokens of a session whose refresh tokens are revoked. */
export async function endSession(settings: Settings, sid: string): Promise<void> {
  await settings.revocations.revoke({ kind: 'session', id: sid, until: untilOf(settings) })
}

// When the last access token that exists at this moment has expired, on a clock that is a minute behind.
function untilOf({ lifetimeSeconds }: Settings) {
  return Date.now() + lifetimeSeconds * 1000 + toleranceMs
}
