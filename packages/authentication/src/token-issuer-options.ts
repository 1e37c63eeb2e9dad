import type { LoginAttemptStore } from './login-attempt-store.ts'
import type { LoginAttemptOptions } from './login-attempts.ts'
import type { PasswordOptions } from './passwords.ts'
import type { RefreshFamily, RefreshTokenStore } from './refresh-token-store.ts'
import type { RevocationFeed } from './revocation-feed.ts'
import { wholeNumber } from './whole-number.ts'

/** A user, as far as tokens go. */
export interface TokenUser {
  /** `sub` of the tokens; it never passes to somebody else. */
  readonly id: string
  /** As `Passwords.hash` made it. A user without one can't sign in by password. */
  readonly passwordHash?: string | undefined
  /** What the user may do, as `orders:read`; they become `scope`. Asked again at each refresh. */
  readonly permissions?: readonly string[] | undefined
  /** What the user is, as `staff`; they become `roles`. Asked again at each refresh. */
  readonly roles?: readonly string[] | undefined
}

/** The claims of an access token that the issuer decides on; whoever signs adds `iss` and `aud`. Times in seconds since 1970. */
export interface TokenClaims {
  readonly sub: string
  readonly iat: number
  readonly nbf: number
  readonly exp: number
  readonly jti: string
  /** The session: all tokens that follow one sign-in have the same. */
  readonly sid: string
  readonly client_id?: string
  readonly scope?: string
  readonly roles?: readonly string[]
}

/** What a {@link tokenIssuer} can be told. */
export interface TokenIssuerOptions {
  /** Signs an access token, and adds `iss` and `aud`: `ownTokens(…).sign`. */
  readonly sign: (claims: TokenClaims) => Promise<string>
  /** The user who signs in with this name, as it was typed; `undefined` when there is none or they may not sign in. */
  readonly findUser: (username: string) => Promise<TokenUser | undefined> | TokenUser | undefined
  /** The same by id, for refreshes; `undefined` ends the session. */
  readonly findUserById: (id: string) => Promise<TokenUser | undefined> | TokenUser | undefined
  /**
   * Secrets of at least 32 bytes, the same in every process: what a refresh token is replaced by is computed with the first. To change it,
   * put the new one first, and drop the old one later than a grace.
   */
  readonly refreshKeys: readonly string[]
  readonly refreshTokens: RefreshTokenStore
  /** What was revoked, kept by `revocationFeed`. The verifying side asks the same one. */
  readonly revocations: Pick<RevocationFeed, 'isRevoked' | 'revoke'>
  readonly attemptStore: LoginAttemptStore
  /** How many failed attempts are let through. */
  readonly attempts?: LoginAttemptOptions | undefined
  /** How passwords are compared; give what they are hashed with. */
  readonly passwords?: PasswordOptions | undefined
  /** How long an access token lives. @default 900 – 15 minutes */
  readonly lifetimeSeconds?: number | undefined
  /** How far the clock of a verifier may be behind: so much longer is a revocation kept. @default 60 */
  readonly clockToleranceSeconds?: number | undefined
  /** How long a session may rest. @default 604800 – 7 days */
  readonly idleSeconds?: number | undefined
  /** How long a session may live at most. @default 2592000 – 30 days */
  readonly sessionSeconds?: number | undefined
  /**
   * How long after its use a refresh token may come again, and gets the same successor: for answers that were lost and for tabs
   * that ask at the same time. 0: never.
   * @default 10
   */
  readonly graceSeconds?: number | undefined
  /** Stores a hash of today's costs in place of a weaker one, when its password is known. */
  readonly onRehash?: ((user: TokenUser, passwordHash: string) => Promise<void> | void) | undefined
  /** Is told of a session that was ended because one of its tokens was used twice: somebody may have stolen it. */
  readonly onReuse?: ((family: RefreshFamily) => void) | undefined
  /** Is told what went wrong and did not keep the request from its answer, for the log. */
  readonly onError?: ((error: unknown) => void) | undefined
  /** The clock, in milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined
}

/** The options as the issuer works with them. */
export interface ResolvedTokenIssuerOptions
  extends Omit<
    TokenIssuerOptions,
    'lifetimeSeconds' | 'clockToleranceSeconds' | 'idleSeconds' | 'sessionSeconds' | 'graceSeconds' | 'now'
  > {
  readonly lifetimeSeconds: number
  readonly clockToleranceSeconds: number
  readonly idleMilliseconds: number
  readonly sessionMilliseconds: number
  readonly graceMilliseconds: number
  readonly now: () => number
}

const day = 86_400

/** Fills in the defaults. Throws a `TypeError` of one line for what is missing or makes no sense. */
export function resolveTokenIssuer(options: TokenIssuerOptions): ResolvedTokenIssuerOptions {
  const { refreshKeys, now = Date.now } = options
  if (!Array.isArray(refreshKeys) || refreshKeys.length === 0) {
    throw new TypeError('authentication: there are no refreshKeys. Give one secret of at least 32 bytes.')
  }
  for (const key of refreshKeys) {
    // A word that was repeated until it was long enough.
    if (typeof key !== 'string' || Buffer.byteLength(key) < 32 || new Set(key).size < 8) {
      throw new TypeError('authentication: one of refreshKeys is weak. Give 32 random bytes or more, as made by: openssl rand -base64 32')
    }
  }
  const lifetimeSeconds = wholeNumber('lifetimeSeconds', options.lifetimeSeconds ?? 900, 1, day)
  const sessionSeconds = wholeNumber('sessionSeconds', options.sessionSeconds ?? 30 * day, 1, 400 * day)
  const idleSeconds = wholeNumber('idleSeconds', options.idleSeconds ?? Math.min(7 * day, sessionSeconds), 1, sessionSeconds)
  const graceSeconds = wholeNumber('graceSeconds', options.graceSeconds ?? Math.min(10, idleSeconds), 0, Math.min(60, idleSeconds))
  return {
    ...options,
    lifetimeSeconds,
    clockToleranceSeconds: wholeNumber('clockToleranceSeconds', options.clockToleranceSeconds ?? 60, 0, 300),
    idleMilliseconds: idleSeconds * 1000,
    sessionMilliseconds: sessionSeconds * 1000,
    graceMilliseconds: graceSeconds * 1000,
    now
  }
}
