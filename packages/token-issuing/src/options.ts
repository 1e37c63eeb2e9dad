import {
  callback,
  describeOptions,
  duration,
  group,
  instance,
  integer,
  type OptionsOf,
  optionChecks,
  required,
  type SettingsOf,
  value
} from '@concordat/plugin-kit/options'
import type { LoginAttemptStore } from './login-attempt-store.ts'
import { loginAttemptOptions } from './login-attempts.ts'
import type { RefreshTokenStore } from './refresh-token-store.ts'

/** The properties of a user that are needed to issue tokens. */
export interface TokenUser {
  /** The `sub` of the tokens. It is never assigned to another user. */
  readonly id: string
  /** The hash of the password, from `passwords().hash`. A user without it cannot sign in with a password. */
  readonly passwordHash?: string | undefined
  /** The permissions of the user, for example `orders:read`; they become `scope`. Read again at each refresh. */
  readonly permissions?: readonly string[] | undefined
  /** The roles of the user, for example `staff`; they become `roles`. Read again at each refresh. */
  readonly roles?: readonly string[] | undefined
  /** Claims of the service's own, for example `{ org: 'acme' }`. Read again at each refresh. Names that the issuer or a standard uses are refused. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined
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

/** The revocations of access tokens, for example the `revocationFeed` of `@concordat/authentication`. */
interface IssuerRevocations {
  /** Returns whether a token with these claims is revoked; `iat` is in seconds since the Unix epoch, with a fraction if it is the start time of a session. */
  isRevoked(claims: Pick<TokenClaims, 'jti' | 'sid' | 'sub' | 'iat'>): boolean
  /**
   * Adds a revocation, in this process immediately and in others shortly afterwards: of one token by its `jti`, a session by its `sid`, all tokens of a
   * user by `sub`, or all tokens, with an empty `id`. Of the last two, only tokens issued before `issuedBefore`. `until` is when the last affected
   * token expires. Times are in milliseconds since the Unix epoch. Rejects when the revocation cannot be stored.
   */
  revoke(revocation: {
    readonly kind: 'token' | 'session' | 'subject' | 'everything'
    readonly id: string
    readonly issuedBefore?: number | undefined
    readonly until: number
  }): Promise<void>
}

interface TokenIssuerStores {
  readonly refreshTokens: RefreshTokenStore
  readonly loginAttempts: LoginAttemptStore
}

type Found = Promise<TokenUser | undefined> | TokenUser | undefined
const day = 86_400

/** The description of {@link TokenIssuerOptions}. */
export const tokenIssuerOptions = describeOptions('token-issuing', {
  /** Signs an access token, and adds `iss` and `aud`: `tokens.sign`. */
  sign: required(callback<(claims: TokenClaims) => Promise<string>>('signs an access token')),
  /** Returns the user by name. Store and compare names in the form of `canonicalUsername`: other spellings would have attempts of their own. */
  findUser: required(callback<(username: string) => Found>('returns the user with a name')),
  /** Returns the user by id, for refreshes; `undefined` ends the session. */
  findUserById: required(callback<(id: string) => Found>('returns the user with an id')),
  /** Random secrets of at least 32 bytes, the same in every process. Put a new one first; remove the old one after an hour, when the tokens of password resets have expired. */
  refreshKeys: required(value<readonly string[]>()),
  /** `{ refreshTokens, loginAttempts }`. */
  stores: required(value<TokenIssuerStores>({ names: { refreshTokens: true, loginAttempts: true } })),
  /** What verifiers check: the `revocationFeed`. */
  revocations: required(
    instance<IssuerRevocations>(['isRevoked', 'revoke'], 'isRevoked() and revoke(), for example revocationFeed({ store })')
  ),
  /** How long an access token is valid. */
  lifetimeSeconds: integer({ default: 900, min: 1, max: day }),
  /** How long a session may be idle. */
  idleSeconds: duration({ default: 7 * day, min: 1, max: 400 * day }),
  /** How long a session may last at most. */
  sessionSeconds: duration({ default: 30 * day, min: 1, max: 400 * day }),
  /** The limits of failures, each forgiven after its share of the window. */
  attempts: group(loginAttemptOptions),
  /** Stores a stronger hash after a sign-in, if the stored one is still `user.passwordHash`: otherwise it would overwrite a new password. */
  onRehash: callback<(user: TokenUser, passwordHash: string) => Promise<void> | void>('stores the hash'),
  /** Called with errors that did not affect the response. */
  onError: callback<(error: unknown) => void>('gets the error', { default: () => {} })
})

/** Options of {@link tokenIssuer}. */
export interface TokenIssuerOptions extends OptionsOf<typeof tokenIssuerOptions> {}

/** The options with their defaults. */
export type Settings = SettingsOf<(typeof tokenIssuerOptions)['members']>

/** Returns the options with their defaults. Throws a `TypeError` of one line for missing and invalid options. */
export function resolveOptions(options: TokenIssuerOptions): Settings {
  const settings = tokenIssuerOptions.read(options)
  const { refreshKeys, stores } = settings
  if (stores?.refreshTokens === undefined || stores.loginAttempts === undefined) {
    throw new TypeError(
      'token-issuing: options.stores must have refreshTokens, a RefreshTokenStore, and loginAttempts, a LoginAttemptStore. For one process, use memoryRefreshTokenStore() and memoryLoginAttemptStore().'
    )
  }
  if (!Array.isArray(refreshKeys) || refreshKeys.length === 0) {
    throw new TypeError('token-issuing: options.refreshKeys must be a non-empty array. Add a secret of at least 32 bytes.')
  }
  for (const [index, key] of refreshKeys.entries()) optionChecks('token-issuing').secret(`options.refreshKeys[${index}]`, key)
  return settings
}
