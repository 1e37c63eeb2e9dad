import { optionChecks } from '@concordat/plugin-options'
import { type Claims, clientIdOf } from './claims.ts'
import { grantsIn } from './grants.ts'
import type { TokenForm } from './token-form.ts'

/** An issuer whose tokens are accepted: the result of `ownTokens`, `outsideIssuer` or `introspection`. */
export interface TrustedIssuer {
  /** The `iss` of the issuer's tokens. */
  readonly issuer: string
  /**
   * Verifies a token and returns its claims. Throws INVALID_TOKEN or TOKEN_EXPIRED, and AUTHENTICATION_UNAVAILABLE when the issuer
   * cannot be reached. `form` is the result of `readToken(token)`, if the token was parsed before.
   */
  readonly verify: (token: string, form?: TokenForm) => Promise<Claims>
  /** Returns the names of the permissions and roles that the claims grant. */
  readonly grantsOf: (claims: Claims) => readonly string[]
  /** Returns whether the token was issued to a client that acts on its own behalf, and not to a user. */
  readonly isClient: (claims: Claims) => boolean
  /** Whether `verify` also accepts tokens that are not JWTs, and so do not name their issuer. */
  readonly verifiesOpaqueTokens?: boolean | undefined
  /** How long the claims may be cached, in seconds; the plugin's `cacheSeconds` is the maximum and the default. */
  readonly cacheSeconds?: number | undefined
}

/** Options that all issuers share. */
export interface IssuerOptions {
  /** The `iss` of the issuer's tokens. */
  readonly issuer: string
  /** The name, or names, of this service: `aud` must contain one of them. */
  readonly audience: string | readonly string[]
  /**
   * The maximum time from `iat` to `exp`, in seconds, at most one day.
   * @default 900 for own tokens, 3600 for outside issuers
   */
  readonly maxLifetimeSeconds?: number | undefined
  /**
   * How far the clocks of the issuer and the service may differ, in seconds, at most 60.
   * @default 5
   */
  readonly clockToleranceSeconds?: number | undefined
  /**
   * Returns the names of the permissions and roles that the claims of a token grant.
   * @default `grantsIn('scope', 'roles')`
   */
  readonly grantsOf?: ((claims: Claims) => readonly string[]) | undefined
  /**
   * Returns whether a token was issued to a client that acts on its own behalf (RFC 6749 §4.4).
   * @default its `sub` is the id of its client (RFC 9068 §2.2)
   */
  readonly isClient?: ((claims: Claims) => boolean) | undefined
}

/** The options of an issuer with their defaults. */
export interface ResolvedIssuer {
  readonly issuer: string
  readonly audience: readonly string[]
  readonly maxLifetimeSeconds: number
  readonly clockToleranceSeconds: number
  readonly grantsOf: (claims: Claims) => readonly string[]
  readonly isClient: (claims: Claims) => boolean
}

const check = optionChecks('authentication')
const longestLifetimeSeconds = 86_400
const standardGrants = grantsIn('scope', 'roles')

/** Returns the options with their defaults. Throws a `TypeError` of one line for a missing issuer or audience, and for invalid times. */
export function resolveIssuer(options: IssuerOptions, lifetimeSeconds: number): ResolvedIssuer {
  const { issuer, maxLifetimeSeconds = lifetimeSeconds, clockToleranceSeconds = 5 } = options
  const { grantsOf = standardGrants, isClient = isSubject } = options
  if (!isName(issuer)) throw new TypeError('authentication: options.issuer must be the "iss" of the tokens: a string without spaces.')
  const audience = [options.audience].flat()
  if (audience.length === 0 || !audience.every(isName)) {
    throw new TypeError(
      `authentication: options.audience of the issuer ${issuer} is missing or empty. Set it to the name of this service in "aud".`
    )
  }
  check.integer('options.maxLifetimeSeconds', maxLifetimeSeconds, 1, longestLifetimeSeconds)
  check.integer('options.clockToleranceSeconds', clockToleranceSeconds, 0, 60)
  return { issuer, audience, maxLifetimeSeconds, clockToleranceSeconds, grantsOf, isClient }
}

function isSubject(claims: Claims) {
  return claims.sub === clientIdOf(claims)
}

function isName(value: unknown) {
  return typeof value === 'string' && /^\S+$/.test(value)
}
