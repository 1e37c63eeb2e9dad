import { type OptionNames, optionChecks } from '@concordat/plugin-options'
import type { LoginAttemptStore } from './login-attempt-store.ts'
import type { LoginAttemptOptions } from './login-attempts.ts'
import { type PasswordOptions, passwordOptionNames } from './passwords.ts'
import type { RefreshFamily, RefreshTokenStore } from './refresh-token-store.ts'

const check = optionChecks('token-issuing')

/** The properties of a user that are needed to issue tokens. */
export interface TokenUser {
  /** The `sub` of the tokens. It is never assigned to another user. */
  readonly id: string
  /** The hash of the password, as `Passwords.hash` returned it. A user without it cannot sign in with a password. */
  readonly passwordHash?: string | undefined
  /** The permissions of the user, for example `orders:read`; they become `scope`. Read again at each refresh. */
  readonly permissions?: readonly string[] | undefined
  /** The roles of the user, for example `staff`; they become `roles`. Read again at each refresh. */
  readonly roles?: readonly string[] | undefined
}

/** The claims of an access token that the issuer sets; `sign` adds `iss` and `aud`. Times are in seconds since the Unix epoch. */
export interface TokenClaims {
  readonly sub: string
  readonly iat: number
  readonly nbf: number
  readonly exp: number
  readonly jti: string
  /** The id of the session, which is the same for all tokens that follow one sign-in. */
  readonly sid: string
  readonly client_id?: string | undefined
  readonly scope?: string | undefined
  readonly roles?: readonly string[] | undefined
}

/** A revocation that the issuer adds. Times are in milliseconds since the Unix epoch. */
interface IssuerRevocation {
  /** What is revoked: one token by its `jti`, a session by its `sid`, all tokens of a user by `sub`, or all tokens. */
  readonly kind: 'token' | 'session' | 'subject' | 'everything'
  /** The `jti`, `sid` or `sub`; empty for `everything`. */
  readonly id: string
  /** For `subject` and `everything`: only tokens that were issued before this time are revoked. */
  readonly issuedBefore?: number | undefined
  /** The time at which the last affected token expires. */
  readonly until: number
}

/** The revocations of access tokens, for example the `revocationFeed` of `@concordat/authentication`. */
export interface IssuerRevocations {
  /** Returns whether a token with these claims is revoked; `iat` is in seconds since the Unix epoch, with a fraction if it is the start time of a session. */
  isRevoked(claims: { readonly jti: string; readonly sid: string; readonly sub: string; readonly iat: number }): boolean
  /**
   * Adds a revocation, which takes effect in this process immediately and in other processes shortly afterwards. Rejects when the revocation
   * cannot be stored.
   */
  revoke(revocation: IssuerRevocation): Promise<void>
}

/** The stores of a {@link tokenIssuer}. */
interface TokenIssuerStores {
  readonly refreshTokens: RefreshTokenStore
  /** Counts failed attempts to sign in. */
  readonly loginAttempts: LoginAttemptStore
}

/** Options of {@link tokenIssuer}. */
export interface TokenIssuerOptions {
  /** Signs an access token, and adds `iss` and `aud`, for example `ownTokens(…).sign` of `@concordat/authentication`. */
  readonly sign: (claims: TokenClaims) => Promise<string>
  /**
   * Returns the user with this username; `undefined` if the user does not exist or may not sign in. The name is in the form of
   * `canonicalUsername`. Compare it with names in the same form, and not by rules of the database: a spelling that only the database equates would
   * have attempts of its own.
   */
  readonly findUser: (username: string) => Promise<TokenUser | undefined> | TokenUser | undefined
  /** Returns the user with this id, for refreshes; `undefined` ends the session. */
  readonly findUserById: (id: string) => Promise<TokenUser | undefined> | TokenUser | undefined
  /**
   * Secrets of at least 32 bytes, the same in every process. The first one computes the successor of a refresh token. To change it,
   * put the new secret first, and remove the old one after the grace period.
   */
  readonly refreshKeys: readonly string[]
  /** The revocations that verifiers of the tokens check, for example the `revocationFeed` in the options of `@concordat/authentication`. */
  readonly revocations: IssuerRevocations
  readonly stores: TokenIssuerStores
  /** The limits of failed attempts. */
  readonly attempts?: LoginAttemptOptions | undefined
  /** The options for verifying passwords; use the same options as for hashing new passwords. */
  readonly passwords?: PasswordOptions | undefined
  /** How long an access token is valid. @default 900 – 15 minutes */
  readonly lifetimeSeconds?: number | undefined
  /** How far the clock of a verifier may be behind: revocations are stored this much longer. @default 60 */
  readonly clockToleranceSeconds?: number | undefined
  /** How long a session may be idle. @default 604800 – 7 days */
  readonly idleSeconds?: number | undefined
  /** How long a session may last at most. @default 2592000 – 30 days */
  readonly sessionSeconds?: number | undefined
  /**
   * How long a used refresh token can be sent again and still get the same successor, for example after a lost response or when two browser tabs
   * refresh at the same time. 0: never.
   * @default 10
   */
  readonly reuseGraceSeconds?: number | undefined
  /** Stores a stronger hash in place of an outdated one, after a sign-in with the right password. */
  readonly onRehash?: ((user: TokenUser, passwordHash: string) => Promise<void> | void) | undefined
  /** Called with a session that was ended because one of its tokens was used twice and may be stolen. */
  readonly onReuse?: ((family: RefreshFamily) => void) | undefined
  /** Called with errors that did not affect the response, for the log. */
  readonly onError?: ((error: unknown) => void) | undefined
  /** Returns the current time in milliseconds since the Unix epoch. @default Date.now */
  readonly now?: (() => number) | undefined
}

/** The names of the options of {@link tokenIssuer}. */
export const tokenIssuerOptionNames: OptionNames<TokenIssuerOptions> = {
  sign: true,
  findUser: true,
  findUserById: true,
  refreshKeys: true,
  revocations: true,
  stores: { refreshTokens: true, loginAttempts: true },
  attempts: {
    perAccountAndAddress: { limit: true, windowSeconds: true },
    perAccount: { limit: true, windowSeconds: true },
    perAddress: { limit: true, windowSeconds: true }
  },
  passwords: passwordOptionNames,
  lifetimeSeconds: true,
  clockToleranceSeconds: true,
  idleSeconds: true,
  sessionSeconds: true,
  reuseGraceSeconds: true,
  onRehash: true,
  onReuse: true,
  onError: true,
  now: true
}

/** The options with their defaults. */
export interface Settings
  extends Omit<
    TokenIssuerOptions,
    'lifetimeSeconds' | 'clockToleranceSeconds' | 'idleSeconds' | 'sessionSeconds' | 'reuseGraceSeconds' | 'now'
  > {
  readonly lifetimeSeconds: number
  readonly clockToleranceSeconds: number
  readonly idleMs: number
  readonly sessionMs: number
  readonly reuseGraceMs: number
  readonly now: () => number
}

const day = 86_400

/** Returns the options with their defaults. Throws a `TypeError` of one line for missing and invalid options. */
export function resolveOptions(options: TokenIssuerOptions): Settings {
  const { refreshKeys, stores, now = () => Date.now() } = options
  if (stores?.refreshTokens === undefined || stores.loginAttempts === undefined) {
    throw new TypeError(
      'token-issuing: options.stores must have refreshTokens, a RefreshTokenStore, and loginAttempts, a LoginAttemptStore. For one process, use memoryRefreshTokenStore() and memoryLoginAttemptStore().'
    )
  }
  if (!Array.isArray(refreshKeys) || refreshKeys.length === 0) {
    throw new TypeError('token-issuing: options.refreshKeys must be a non-empty array. Add a secret of at least 32 bytes.')
  }
  for (const [index, key] of refreshKeys.entries()) check.secret(`options.refreshKeys[${index}]`, key)
  const lifetimeSeconds = check.integer('options.lifetimeSeconds', options.lifetimeSeconds ?? 900, 1, day)
  const sessionSeconds = check.integer('options.sessionSeconds', options.sessionSeconds ?? 30 * day, 1, 400 * day)
  const idleSeconds = check.integer('options.idleSeconds', options.idleSeconds ?? Math.min(7 * day, sessionSeconds), 1, sessionSeconds)
  const reuseGraceSeconds = check.integer(
    'options.reuseGraceSeconds',
    options.reuseGraceSeconds ?? Math.min(10, idleSeconds),
    0,
    Math.min(60, idleSeconds)
  )
  return {
    ...options,
    lifetimeSeconds,
    clockToleranceSeconds: check.integer('options.clockToleranceSeconds', options.clockToleranceSeconds ?? 60, 0, 300),
    idleMs: idleSeconds * 1000,
    sessionMs: sessionSeconds * 1000,
    reuseGraceMs: reuseGraceSeconds * 1000,
    now
  }
}
