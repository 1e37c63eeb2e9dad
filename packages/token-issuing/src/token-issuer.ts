import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { credentialJudge } from './credential-judge.ts'
import {
  bothGrants,
  invalidTokenRequest,
  passwordResetInvalid,
  refreshTokenExpired,
  refreshTokenInvalid,
  refreshTokenReused,
  refreshTokenRevoked
} from './errors.ts'
import { resolveOptions, type TokenIssuerOptions, type TokenUser } from './options.ts'
import { passwordResetOf, readPasswordReset } from './password-reset.ts'
import { newRefreshToken, type RefreshToken, readRefreshToken, successorOf } from './refresh-token.ts'
import type { RefreshFamily } from './refresh-token-store.ts'
import { passwordResets } from './reset-requests.ts'

/** The body of a token request: sign in, or refresh a session. */
type TokenRequest = { readonly username: string; readonly password: string } | { readonly refreshToken: string }

interface TokenCaller {
  /** `request.ip`, for counting attempts. Omit it only where attempts cannot be counted by address. */
  readonly address?: string | undefined
  /** The client application, if it is known. Refresh tokens are bound to it. */
  readonly clientId?: string | undefined
}

/** The token response (rules E6, X7); the route sends it with `Cache-Control: no-store`. */
export interface TokenResponse {
  readonly accessToken: string
  readonly tokenType: 'Bearer'
  /** Seconds until the access token expires. */
  readonly expiresIn: number
  readonly refreshToken: string
}

/** Issues and revokes tokens. */
export interface TokenIssuer {
  /**
   * Returns the response to a token request. Throws INVALID_CREDENTIALS, REFRESH_TOKEN_INVALID, _EXPIRED, _REVOKED and _REUSED (401),
   * INVALID_TOKEN_REQUEST (422), LOGIN_ATTEMPTS_EXCEEDED (429) and LOGINS_OVERLOADED (503).
   */
  issue(request: TokenRequest, caller?: TokenCaller): Promise<TokenResponse>
  /**
   * Returns the user with a name and password, for a change of the password. Failures count as attempts to sign in. Throws INVALID_CREDENTIALS (401),
   * INVALID_TOKEN_REQUEST (422), LOGIN_ATTEMPTS_EXCEEDED (429) and LOGINS_OVERLOADED (503).
   */
  checkPassword(username: string, password: string, caller?: TokenCaller): Promise<TokenUser>
  /**
   * Counts a request for a password reset of the user with a name, existing or not, and resolves. `work`, which looks the user up and sends the token,
   * runs after that, so neither the response nor its time reveals whether the user exists; `onError` gets its failures, and that it took longer than 60
   * seconds. Throws INVALID_TOKEN_REQUEST (422), PASSWORD_RESETS_EXCEEDED (429) after five requests in an hour, and LOGINS_OVERLOADED (503) while 100
   * others run.
   */
  beginPasswordReset(username: string, work: () => Promise<void>): Promise<void>
  /**
   * Returns a token that lets its holder choose a new password, for a link in an email to the user: `pr_` and letters, digits, `-` and `_`. It expires after
   * an hour, and when the stored hash changes, so it works once.
   */
  passwordResetToken(user: TokenUser): string
  /** Returns the user of such a token. Throws PASSWORD_RESET_INVALID (422), which names `body.token`, for one that was not issued, has expired or was used. */
  userOfPasswordReset(token: string): Promise<TokenUser>
  /** Ends the session of a refresh token (RFC 7009); any other string changes nothing. Returns whether the string has the form of a refresh token. */
  revokeRefreshToken(text: string): Promise<boolean>
  /** Ends the session of an access token, or revokes only the token if it has no session. The claims must be verified, expired or not. */
  revokeAccessToken(claims: { readonly jti?: string | undefined; readonly sid?: string | undefined; readonly exp: number }): Promise<void>
  /** Ends a session, by its `sid`. */
  revokeSession(sid: string): Promise<void>
  /**
   * Ends all sessions of a user and revokes all access tokens issued so far: when the user is removed, gets another role, or changes a password that
   * others may know. With a `revocationFeed`, webhooks then disables the user's subscriptions.
   */
  revokeSubject(subject: string): Promise<void>
  /** Does the same for all users. */
  revokeEverything(): Promise<void>
}

const maxTextLength = 1024
/** How long a used refresh token gets the same successor: a client that lost the response sends it again. */
const reuseGraceMs = 10_000
const passwordResetMs = 3_600_000
/** What authentication accepts at most: a longer token is of no use. */
export const maxAccessTokenLength = 16_384

/** Creates a token issuer with the password and refresh grants (RFC 6749 §4.3, §6; RFC 9700 §4.14). Throws a `TypeError` for invalid options. */
export function tokenIssuer(options: TokenIssuerOptions): TokenIssuer {
  const settings = resolveOptions(options)
  const { revocations, now } = settings
  const { refreshTokens } = settings.stores
  const judge = credentialJudge(settings)
  const begin = passwordResets(settings)

  async function signIn(username: string, password: string, { address, clientId }: TokenCaller) {
    // Read before any lookup, so that a later revocation also ends the tokens issued here.
    const beganAt = now()
    const user = await judge(username, password, address)
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

  async function goOn(text: string, { clientId }: TokenCaller) {
    const token = readRefreshToken(text)
    if (token === undefined) throw refreshTokenInvalid()
    const usedAt = now()
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
      await endSession(family.id)
      throw use.outcome === 'reused' ? refreshTokenReused() : refreshTokenRevoked()
    }
    // The successor of a token cannot be computed again after its key was removed.
    const { newest } = use
    const next = successors.find(({ secret }) => secret === newest)
    if (next === undefined) throw refreshTokenInvalid()
    const user = await settings.findUserById(family.subject)
    if (user !== undefined) return respond(user, family, next, usedAt)
    await revokeSession(family.id)
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
      await delay(Math.max(0, iat * 1000 - now()))
    }
    const expiresIn = settings.lifetimeSeconds
    const scope = user.permissions?.join(' ')
    const accessToken = await settings.sign({
      ...mark,
      iat,
      nbf: iat,
      exp: iat + expiresIn,
      ...(family.clientId !== undefined && { client_id: family.clientId }),
      ...(scope && { scope }),
      ...(user.roles && { roles: [...user.roles] })
    })
    if (accessToken.length > maxAccessTokenLength)
      throw new TypeError(
        `token-issuing: an access token would have more than ${maxAccessTokenLength} characters. Give the user roles in place of so many permissions.`
      )
    return { accessToken, tokenType: 'Bearer', expiresIn, refreshToken: text }
  }

  // When the last access token that exists at this moment has expired, on a clock that is a minute behind.
  const tolerance = 61_000
  const untilOf = () => now() + settings.lifetimeSeconds * 1000 + tolerance

  function endSession(sid: string) {
    return revocations.revoke({ kind: 'session', id: sid, until: untilOf() })
  }

  async function revokeSession(sid: string) {
    await refreshTokens.revokeFamily(sid)
    await endSession(sid)
  }

  async function endBefore(kind: 'subject' | 'everything', id: string) {
    // Read after the families have ended, so that none of them can produce a token with a later `iat`.
    await revocations.revoke({ kind, id, issuedBefore: now() + 1, until: untilOf() })
    // Resolves in a later millisecond, so that a sign-in after it is not affected.
    await delay(2)
  }

  return {
    async issue(request, caller = {}) {
      const { username, password, refreshToken } = request as unknown as Readonly<Record<string, unknown>>
      if (refreshToken === undefined) {
        const credentials = requireTexts({ username, password })
        return signIn(credentials.username, credentials.password, caller)
      }
      if (username !== undefined || password !== undefined) throw bothGrants()
      return goOn(requireTexts({ refreshToken }).refreshToken, caller)
    },
    async checkPassword(username, password, { address } = {}) {
      requireTexts({ username, password }, false)
      return judge(username, password, address)
    },
    async beginPasswordReset(username, work) {
      requireTexts({ username }, false)
      await begin(username, work)
    },
    passwordResetToken: (user) => passwordResetOf(user, now() + passwordResetMs, settings.refreshKeys[0] as string),
    async userOfPasswordReset(token) {
      const reset = isText(token) ? readPasswordReset(token, settings.refreshKeys) : undefined
      const user = reset && reset.expiresAt > now() ? await settings.findUserById(reset.subject) : undefined
      if (user === undefined || !reset?.isFor(user)) throw passwordResetInvalid()
      return user
    },
    async revokeRefreshToken(text) {
      const token = readRefreshToken(text)
      if (token === undefined) return false
      const family = await refreshTokens.revokeHandle(token.handle)
      if (family !== undefined) await endSession(family.id)
      return true
    },
    async revokeAccessToken({ jti, sid, exp }) {
      if (sid !== undefined) await revokeSession(sid)
      else if (jti !== undefined) await revocations.revoke({ kind: 'token', id: jti, until: Math.max(untilOf(), exp * 1000 + tolerance) })
    },
    revokeSession,
    async revokeSubject(subject) {
      await refreshTokens.revokeSubject(subject)
      await endBefore('subject', subject)
    },
    async revokeEverything() {
      await refreshTokens.revokeAll()
      await endBefore('everything', '')
    }
  }
}

/** Returns the fields. Throws INVALID_TOKEN_REQUEST, which names those that are not texts. */
function requireTexts<Name extends string>(fields: Readonly<Record<Name, unknown>>, isForToken = true): Readonly<Record<Name, string>> {
  const wrong = Object.entries(fields).flatMap(([name, value]) => (isText(value) ? [] : [name]))
  if (wrong.length > 0) throw invalidTokenRequest(wrong, maxTextLength, isForToken)
  return fields as Readonly<Record<Name, string>>
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= maxTextLength && value.isWellFormed() && !value.includes('\0')
}
