import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { refreshTokenExpired, refreshTokenInvalid, refreshTokenReused, refreshTokenRevoked } from './errors.ts'
import type { Settings, TokenUser } from './options.ts'
import { newRefreshToken, type RefreshToken, readRefreshToken, successorOf } from './refresh-token.ts'
import type { RefreshFamily } from './refresh-token-store.ts'
import { endSession, revokeSession } from './token-revocation.ts'

/** The token response (rules E6, X7); the route sends it with `Cache-Control: no-store`. */
export interface TokenResponse {
  readonly accessToken: string
  readonly tokenType: 'Bearer'
  /** Seconds until the access token expires. */
  readonly expiresIn: number
  readonly refreshToken: string
}

/** How long a used refresh token gets the same successor: a client that lost the response sends it again. */
const reuseGraceMs = 10_000
/** What authentication accepts at most: a longer token is of no use. */
export const maxAccessTokenLength = 16_384

/** Creates the functions that begin a session and refresh its tokens. */
export function tokenSessions(settings: Settings) {
  const { revocations } = settings
  const { refreshTokens } = settings.stores

  async function begin(user: TokenUser, beganAt: number, clientId: string | undefined) {
    const token = newRefreshToken()
    const family: RefreshFamily = {
      id: randomUUID(),
      handle: token.handle,
      subject: user.id,
      beganAt,
      expiresAt: beganAt + settings.sessionMs,
      ...(clientId !== undefined && { clientId })
    }
    await refreshTokens.begin(family, token.secret, beganAt + settings.idleMs)
    return respond(user, family, token, beganAt)
  }

  async function refresh(text: string, clientId: string | undefined) {
    const token = readRefreshToken(text)
    if (token === undefined) throw refreshTokenInvalid()
    const usedAt = Date.now()
    const successors = settings.refreshKeys.map((key) => successorOf(token, key)) as [RefreshToken, ...RefreshToken[]]
    const use = await refreshTokens.use({
      handle: token.handle,
      secret: token.secret,
      successor: successors[0].secret,
      clientId,
      now: usedAt,
      reuseGraceMs,
      idleMs: settings.idleMs
    })
    if (use.outcome === 'unknown') throw refreshTokenInvalid()
    if (use.outcome === 'expired') throw refreshTokenExpired()
    const { family } = use
    if (use.outcome === 'revoked' || use.outcome === 'reused') {
      // Also for a revoked family: its revocation may have failed before the access tokens were revoked.
      await endSession(settings, family.id)
      throw use.outcome === 'reused' ? refreshTokenReused() : refreshTokenRevoked()
    }
    // The successor of a token cannot be computed again after its key was removed.
    const { newest } = use
    const next = successors.find(({ secret }) => secret === newest)
    if (next === undefined) throw refreshTokenInvalid()
    const user = await settings.findUserById(family.subject)
    if (user !== undefined) return respond(user, family, next, usedAt)
    await revokeSession(settings, family.id)
    throw refreshTokenRevoked()
  }

  async function respond(user: TokenUser, family: RefreshFamily, { text }: RefreshToken, at: number): Promise<TokenResponse> {
    const jti = randomUUID()
    const mark = { jti, sid: family.id, sub: family.subject }
    let iat = Math.floor(at / 1000)
    if (revocations.isRevoked({ ...mark, iat: family.beganAt / 1000 })) {
      await refreshTokens.revokeFamily(family.id)
      throw refreshTokenRevoked()
    }
    if (revocations.isRevoked({ ...mark, iat })) {
      // All tokens of the user were revoked earlier in this second, and `iat` has a resolution of one second, so this waits for the next.
      iat += 1
      await delay(Math.max(0, iat * 1000 - Date.now()))
    }
    const expiresIn = settings.lifetimeSeconds
    const scope = user.permissions?.join(' ')
    const accessToken = await settings.sign({
      ...ownClaimsOf(user),
      ...mark,
      iat,
      nbf: iat,
      exp: iat + expiresIn,
      ...(family.clientId !== undefined && { client_id: family.clientId }),
      ...(scope && { scope }),
      ...(user.roles && { roles: [...user.roles] })
    })
    requireLength(accessToken)
    return { accessToken, tokenType: 'Bearer', expiresIn, refreshToken: text }
  }

  return { begin, refresh }
}

// RFC 7519 §4.1, RFC 9068 §2.2, RFC 8693 §4, and what verifiers read of other issuers: the client, the kind of token, and marks of tokens that are not for access.
const takenClaims = new Set(
  'iss sub aud exp nbf iat jti sid client_id scope roles azp appid act may_act cnf typ token_use nonce at_hash c_hash s_hash events'.split(
    ' '
  )
)

/** Returns the user's own claims. Throws a `TypeError` of one line for a claim that would replace one with a meaning of its own. */
function ownClaimsOf({ id, claims = {} }: TokenUser) {
  const taken = Object.keys(claims).find((name) => takenClaims.has(name))
  if (taken !== undefined)
    throw new TypeError(
      `token-issuing: the claims of the user ${id} contain "${taken}", which the issuer or a standard defines. Rename it.`
    )
  return claims
}

function requireLength(accessToken: string) {
  if (accessToken.length <= maxAccessTokenLength) return
  throw new TypeError(
    `token-issuing: an access token would have more than ${maxAccessTokenLength} characters. Give the user roles in place of so many permissions, or fewer claims.`
  )
}
