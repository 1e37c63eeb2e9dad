import { isApiError } from '@concordat/api-error'
import { type OptionNames, requireKnownNames } from '@concordat/plugin-options'
import { jwtVerify } from 'jose'
import { type ClaimRules, type Claims, clientIdOf, requireClaims } from './claims.ts'
import { invalidToken, tokenExpired } from './errors.ts'
import type { Fetch } from './remote-json.ts'
import { remoteKeys } from './remote-keys.ts'
import { readToken, type TokenForm } from './token-form.ts'
import { type IssuerOptions, resolveIssuer, type TrustedIssuer } from './trusted-issuer.ts'

/** The algorithms of tokens from outside issuers. HMAC is excluded: a shared secret does not prove which party signed. */
type OutsideAlgorithm = 'RS256' | 'RS384' | 'RS512' | 'PS256' | 'PS384' | 'PS512' | 'ES256' | 'ES384' | 'ES512' | 'EdDSA'

/** Options of {@link outsideIssuer}. */
export interface OutsideIssuerOptions extends IssuerOptions {
  /**
   * The https URL of the issuer's JSON Web Key Set (RFC 7517).
   * @default the `jwks_uri` in the `/.well-known/openid-configuration` of the issuer (OpenID Connect Discovery §4)
   */
  readonly jwksUrl?: string | undefined
  /** @default ['RS256'] */
  readonly algorithms?: readonly OutsideAlgorithm[] | undefined
  /**
   * The `typ` header parameter of the issuer's access tokens. Set `JWT` only for an issuer that does not mark its access tokens as RFC 9068
   * requires: an ID token has the same type, and is then recognized only by its `aud` and its other claims. The tokens must name their client.
   * @default 'at+jwt'
   */
  readonly type?: 'at+jwt' | 'JWT' | undefined
  /**
   * Fetches the key set and the discovery document, for example through a proxy.
   * @default the global `fetch`
   */
  readonly fetch?: Fetch | undefined
}

const known = new Set<string>(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'])
/** The names of the options of {@link outsideIssuer}. */
export const outsideIssuerNames: OptionNames<OutsideIssuerOptions> = {
  issuer: true,
  audience: true,
  maxLifetimeSeconds: true,
  clockToleranceSeconds: true,
  grantsOf: true,
  isClient: true,
  jwksUrl: true,
  algorithms: true,
  type: true,
  fetch: true
}
const required = ['iss', 'sub', 'aud', 'exp', 'iat']

/**
 * Creates a trusted issuer outside this service, whose tokens are verified with `jose` (rule U1). Throws a `TypeError` of one line for invalid
 * options.
 */
export function outsideIssuer(options: OutsideIssuerOptions): TrustedIssuer {
  requireKnownNames('authentication', options, outsideIssuerNames)
  const { grantsOf, isClient, ...issuer } = resolveIssuer(options, 3600)
  const rules: ClaimRules = { ...issuer, required }
  const { algorithms = ['RS256'], type = 'at+jwt' } = options
  if (!Array.isArray(algorithms) || algorithms.length === 0 || !algorithms.every((name) => known.has(name))) {
    throw new TypeError(
      `authentication: options.algorithms of the issuer ${rules.issuer} must be a non-empty array of ${[...known].join(', ')}.`
    )
  }
  const listed = new Set<string>(algorithms)
  const keys = remoteKeys(rules.issuer, options.jwksUrl, options.fetch)

  async function verify(token: string, form: TokenForm = readToken(token)): Promise<Claims> {
    if (!listed.has(form.header.alg)) throw invalidToken('alg is not an allowed algorithm')
    let code: unknown
    try {
      await jwtVerify(token, keys, {
        algorithms: [...algorithms],
        typ: type,
        issuer: rules.issuer,
        audience: [...rules.audience],
        requiredClaims: required,
        // jose compares with whole seconds, and a claim may have a fraction. requireClaims checks the exact time.
        clockTolerance: rules.clockToleranceSeconds + 1
      })
    } catch (error) {
      if (isApiError(error)) throw error
      // Only the code, because the message may quote the token.
      code = (error as { code?: unknown }).code ?? 'unknown'
      if (code !== 'ERR_JWT_EXPIRED') throw invalidToken(`jose reports ${String(code)}`)
    }
    // ID tokens of Auth0 and Entra ID do not name the client, so one with the audience of this service is still rejected.
    if (type === 'JWT' && clientIdOf(form.payload) === undefined) throw invalidToken('client_id, azp and appid are missing')
    const claims = requireClaims(form.payload, rules, Date.now())
    if (code !== undefined) throw tokenExpired()
    return claims
  }

  return { issuer: rules.issuer, verify, grantsOf, isClient }
}
