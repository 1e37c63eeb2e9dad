import { credentialJudge } from './credential-judge.ts'
import { bothGrants, invalidTokenRequest, passwordResetInvalid } from './errors.ts'
import { resolveOptions, type TokenIssuerOptions, type TokenUser } from './options.ts'
import { passwordResetOf, readPasswordReset } from './password-reset.ts'
import { passwordResets } from './reset-requests.ts'
import { tokenRevocation } from './token-revocation.ts'
import { type TokenResponse, tokenSessions } from './token-sessions.ts'

/** The body of a token request: sign in, or refresh a session. */
type TokenRequest = { readonly username: string; readonly password: string } | { readonly refreshToken: string }

interface TokenCaller {
  /** `request.ip`, for counting attempts. Omit it only where attempts cannot be counted by address. */
  readonly address?: string | undefined
  /** The client application, if it is known. Refresh tokens are bound to it. */
  readonly clientId?: string | undefined
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
const passwordResetMs = 3_600_000

/** Creates a token issuer with the password and refresh grants (RFC 6749 §4.3, §6; RFC 9700 §4.14). Throws a `TypeError` for invalid options. */
export function tokenIssuer(options: TokenIssuerOptions): TokenIssuer {
  const settings = resolveOptions(options)
  const { refreshKeys } = settings
  const judge = credentialJudge(settings)
  const beginReset = passwordResets(settings)
  const sessions = tokenSessions(settings)

  return {
    async issue(request, { address, clientId } = {}) {
      const { username, password, refreshToken } = request as unknown as Readonly<Record<string, unknown>>
      if (refreshToken === undefined) {
        const credentials = requireTexts({ username, password })
        // Read before any lookup, so that a later revocation also ends the tokens issued here.
        const beganAt = Date.now()
        return sessions.begin(await judge(credentials.username, credentials.password, address), beganAt, clientId)
      }
      if (username !== undefined || password !== undefined) throw bothGrants()
      return sessions.refresh(requireTexts({ refreshToken }).refreshToken, clientId)
    },
    async checkPassword(username, password, { address } = {}) {
      requireTexts({ username, password }, false)
      return judge(username, password, address)
    },
    async beginPasswordReset(username, work) {
      requireTexts({ username }, false)
      await beginReset(username, work)
    },
    passwordResetToken: (user) => passwordResetOf(user, Date.now() + passwordResetMs, refreshKeys[0] as string),
    async userOfPasswordReset(token) {
      const reset = isText(token) ? readPasswordReset(token, refreshKeys) : undefined
      const user = reset && reset.expiresAt > Date.now() ? await settings.findUserById(reset.subject) : undefined
      if (user === undefined || !reset?.isFor(user)) throw passwordResetInvalid()
      return user
    },
    ...tokenRevocation(settings)
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
