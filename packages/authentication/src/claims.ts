import { invalidToken, tokenExpired } from './errors.ts'

/**
 * The claims that the service adds to the tokens that it signs. Extend it to give them types in `request.principal.claims`; a token can lack them.
 *
 * @example
 * declare module '@concordat/authentication' {
 *   interface OwnClaims {
 *     readonly org: string
 *   }
 * }
 */
// biome-ignore lint/suspicious/noEmptyInterface: services extend it.
export interface OwnClaims {}

/** The claims of an access token (RFC 7519 §4.1, RFC 9068 §2.2). Times are seconds since the Unix epoch, possibly with a fraction. */
export interface Claims extends Partial<OwnClaims> {
  readonly iss: string
  /** The user, or the client itself. */
  readonly sub: string
  readonly aud: string | readonly string[]
  readonly exp: number
  readonly iat: number
  readonly nbf?: number | undefined
  readonly jti?: string | undefined
  /** The id of the session that the token belongs to, which all tokens of a refresh token family share. */
  readonly sid?: string | undefined
  /** The client to which the token was issued. Some issuers name it in `azp` or `appid` instead. */
  readonly client_id?: string | undefined
  /** Permissions and roles, separated by spaces, also if the token has a list. */
  readonly scope?: string | undefined
  /** Roles, also if the token has a single role as a string. */
  readonly roles?: readonly string[] | undefined
  readonly [name: string]: unknown
}

/** The rules that the claims in an issuer's tokens must satisfy, as its options describe them. */
export interface ClaimRules {
  readonly issuer: string
  readonly audience: readonly string[]
  readonly required: readonly string[]
  readonly maxLifetimeSeconds: number
}

/** How far the clocks of the issuer and the service may differ. */
export const clockToleranceSeconds = 5

// Members that only ID and logout tokens have (OpenID Connect Core §2, Back-Channel Logout §2.4).
const foreignToAccess = ['nonce', 'at_hash', 'c_hash', 's_hash', 'events']
const names = ['jti', 'sid', 'client_id']
// RFC 9068 §2.2; Keycloak, Auth0 and Microsoft Entra ID v2.0; Entra ID v1.0.
const clientNames = ['client_id', 'azp', 'appid']
const maxTextLength = 255

/**
 * Returns the claims of a token with a valid signature if they satisfy the rules; `now` is in milliseconds since the Unix epoch (rule U2). They are
 * the payload itself, unless `scope` or `roles` has another form. Throws INVALID_TOKEN, or TOKEN_EXPIRED when the expiry is the only fault.
 */
export function requireClaims(payload: Readonly<Record<string, unknown>>, rules: ClaimRules, now: number): Claims {
  for (const name of rules.required) if (payload[name] === undefined) throw invalidToken(`${name} is missing`)
  const { iss, sub, aud } = payload
  if (iss !== rules.issuer) throw invalidToken('iss is not the expected issuer')
  if (!isText(sub) || sub.length > maxTextLength) throw invalidToken('sub is empty, too long or not a string')
  if (!namesOneOf(aud, rules.audience)) throw invalidToken('aud does not name this service')
  for (const name of names) if (payload[name] !== undefined && !isText(payload[name])) throw invalidToken(`${name} is invalid`)
  const claims = withStandardGrants(payload)
  requireAccessToken(payload)
  requireTimes(payload, rules, now / 1000)
  return claims as Claims
}

// Duende IdentityServer writes `scope` as a list, and libraries of .NET write a list of one role as a string. A role may contain spaces.
function withStandardGrants(payload: Readonly<Record<string, unknown>>) {
  const { scope, roles } = payload
  if (typeof (scope ?? '') !== 'string' && !isList(scope)) throw invalidToken('scope is neither a string nor a list of strings')
  if (typeof roles !== 'string' && !isList(roles ?? [])) throw invalidToken('roles is neither a list of strings nor a string')
  if (typeof roles !== 'string' && !isList(scope)) return payload
  return Object.freeze({
    ...payload,
    ...(isList(scope) && { scope: scope.join(' ') }),
    ...(typeof roles === 'string' && { roles: Object.freeze([roles]) })
  })
}

/** Returns the client to which a token was issued, or `undefined` if its claims do not name it. */
export function clientIdOf(claims: Readonly<Record<string, unknown>>): string | undefined {
  return clientNames.map((name) => claims[name]).find(isText)
}

function isList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((member) => typeof member === 'string')
}

/**
 * Returns a function for the option `grantsOf` that reads the names of permissions and roles from these claims, or nested members. Each is a list of
 * strings, or names separated by spaces; a string in `roles` is one name. Any other value is an INVALID_TOKEN.
 *
 * @example
 * grantsIn('scope', ['realm_access', 'roles'])
 */
export function grantsIn(...claimPaths: readonly (string | readonly string[])[]): (claims: Claims) => readonly string[] {
  const paths = claimPaths.map((path) => [path].flat())
  return (claims) => paths.flatMap((path) => namesAt(claims, path))
}

function namesAt(claims: Claims, path: readonly string[]) {
  const value = path.reduce<unknown>(memberOf, claims) ?? []
  const names = typeof value === 'string' ? value.split(' ').filter((name) => name !== '') : value
  if (!isList(names)) throw invalidToken(`${path.join('.')} is not a list of strings`)
  return names
}

function memberOf(value: unknown, name: string) {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
}

function requireAccessToken(payload: Readonly<Record<string, unknown>>) {
  const foreign = foreignToAccess.find((name) => Object.hasOwn(payload, name))
  if (foreign !== undefined) throw invalidToken(`${foreign} is not a claim of access tokens`)
  // Keycloak uses typ for the kind of token; Cognito and Ory Hydra use token_use.
  const kinds = [payload['typ'] ?? 'bearer', payload['token_use'] ?? 'access']
  if (!kinds.every((kind) => typeof kind === 'string' && /^(bearer|access(_token)?)$/i.test(kind)))
    throw invalidToken('it is not an access token')
}

function requireTimes(payload: Readonly<Record<string, unknown>>, rules: ClaimRules, now: number) {
  const { exp, iat, nbf = iat } = payload
  if (!isTime(exp) || !isTime(iat) || !isTime(nbf)) throw invalidToken('exp, iat or nbf is not a number of seconds')
  if (exp <= iat || exp <= nbf) throw invalidToken('it expires before it is valid')
  if (exp - iat > rules.maxLifetimeSeconds) throw invalidToken('its lifetime exceeds maxLifetimeSeconds')
  const latest = now + clockToleranceSeconds
  if (iat > latest) throw invalidToken('iat is in the future')
  if (nbf > latest) throw invalidToken('nbf is in the future')
  // Checked last, so that TOKEN_EXPIRED is thrown only when nothing else is wrong.
  if (now >= exp + clockToleranceSeconds) throw tokenExpired()
}

function namesOneOf(aud: unknown, audience: readonly string[]) {
  const names = Array.isArray(aud) ? aud : [aud]
  return names.every(isText) && names.some((name) => audience.includes(name))
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

// A NumericDate may have a fraction (RFC 7519 §2).
function isTime(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER
}
