import type { Claims } from './claims.ts'
import { invalidToken } from './errors.ts'
import type { TokenForm } from './token-form.ts'

/** Whose tokens are accepted: what `ownTokens` and `outsideIssuer` make. */
export interface TrustedIssuer {
  /** The `iss` of its tokens. */
  readonly issuer: string
  /**
   * Believes a token, or raises INVALID_TOKEN or TOKEN_EXPIRED; AUTHENTICATION_UNAVAILABLE when its keys can't be had.
   * `form` is what `readToken(token)` made, when it was read before.
   */
  readonly verify: (token: string, form?: TokenForm) => Promise<Claims>
  /** The names of permissions and roles that the claims give. */
  readonly grantsOf: (claims: Claims) => readonly string[]
}

/** The names in `scope` and `roles` (RFC 9068 §2.2.3). Raises INVALID_TOKEN for roles that are no list of texts. */
export function standardGrants({ scope, roles = [] }: Claims): readonly string[] {
  if (!Array.isArray(roles) || !roles.every((role) => typeof role === 'string')) throw invalidToken('roles is no list of texts')
  return [...(scope ?? '').split(' ').filter((name) => name !== ''), ...roles]
}

/** What both kinds of issuer are told in the same words. */
export interface IssuerOptions {
  /** The `iss` of the tokens. */
  readonly issuer: string
  /** The name, or names, that this service goes by: one has to be in `aud`. */
  readonly audience: string | readonly string[]
  /**
   * The longest time from `iat` to `exp`, at most a day.
   * @default 900 for own tokens, 3600 for those of others
   */
  readonly maxLifetimeSeconds?: number | undefined
  /**
   * How far the clocks of issuer and service may differ, at most 60.
   * @default 5
   */
  readonly clockToleranceSeconds?: number | undefined
  /**
   * The names of permissions and roles that the claims of a token give.
   * @default what stands in `scope` and `roles`
   */
  readonly grantsOf?: ((claims: Claims) => readonly string[]) | undefined
}

/** The same, complete. */
export interface ResolvedIssuer {
  readonly issuer: string
  readonly audience: readonly string[]
  readonly maxLifetimeSeconds: number
  readonly clockToleranceSeconds: number
  readonly grantsOf: (claims: Claims) => readonly string[]
}

const longestLifetimeSeconds = 86_400

/** Fills in the defaults. Throws a `TypeError` of one line for a missing issuer or audience, and for times that make no sense. */
export function resolveIssuer(options: IssuerOptions, lifetimeSeconds: number): ResolvedIssuer {
  const { issuer, maxLifetimeSeconds = lifetimeSeconds, clockToleranceSeconds = 5, grantsOf = standardGrants } = options
  if (!isName(issuer)) throw new TypeError('authentication: an issuer has no name. Give issuer, the "iss" of its tokens.')
  const audience = [options.audience].flat()
  if (audience.length === 0 || !audience.every(isName)) {
    throw new TypeError(`authentication: the issuer ${issuer} has no audience. Give audience, the name of this service in "aud".`)
  }
  if (!(Number.isSafeInteger(maxLifetimeSeconds) && maxLifetimeSeconds > 0 && maxLifetimeSeconds <= longestLifetimeSeconds)) {
    throw new TypeError(
      `authentication: maxLifetimeSeconds is ${maxLifetimeSeconds}. Give whole seconds from 1 to ${longestLifetimeSeconds}.`
    )
  }
  if (!(Number.isSafeInteger(clockToleranceSeconds) && clockToleranceSeconds >= 0 && clockToleranceSeconds <= 60)) {
    throw new TypeError(`authentication: clockToleranceSeconds is ${clockToleranceSeconds}. Give whole seconds from 0 to 60.`)
  }
  return { issuer, audience, maxLifetimeSeconds, clockToleranceSeconds, grantsOf }
}

function isName(value: unknown) {
  return typeof value === 'string' && /^\S+$/.test(value)
}
