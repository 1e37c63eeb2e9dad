import { isApiError } from '@concordat/plugin-kit/api-error'
import { describeOptions, integer, type OptionsOf, oneOf, value } from '@concordat/plugin-kit/options'
import { type ClaimRules, type Claims, clientIdOf, clockToleranceSeconds, requireClaims } from './claims.ts'
import { invalidToken, tokenExpired } from './errors.ts'
import { fetchOption } from './remote-json.ts'
import { remoteKeys } from './remote-keys.ts'
import { readToken, type TokenForm } from './token-form.ts'
import { audienceOf, issuerOptions, type TrustedIssuer } from './trusted-issuer.ts'

// Without HMAC: a shared secret does not prove which party signed.
const knownAlgorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'] as const
type OutsideAlgorithm = (typeof knownAlgorithms)[number]

const outsideIssuerOptions = describeOptions('authentication', {
  ...issuerOptions.members,
  /** The https URL of the issuer's JSON Web Key Set (RFC 7517). By default, the `jwks_uri` of its discovery document (OpenID Connect Discovery §4). */
  jwksUrl: value<string>(),
  /** The algorithms of the issuer's tokens. */
  algorithms: value<readonly OutsideAlgorithm[]>({ default: ['RS256'] }),
  /**
   * The `typ` of the issuer's access tokens. Set `JWT` only for an issuer that does not mark them as RFC 9068 requires: an ID token has the same type,
   * and is then recognized only by its `aud` and its other claims. The tokens must name their client.
   */
  type: oneOf(['at+jwt', 'JWT'], { default: 'at+jwt' }),
  /** The maximum time from `iat` to `exp`. */
  maxLifetimeSeconds: integer({ default: 3600, min: 1, max: 86_400 }),
  /** Fetches the key set and the discovery document, for example through a proxy. By default the global `fetch`. */
  fetch: fetchOption()
})

/** Options of {@link outsideIssuer}. */
export interface OutsideIssuerOptions extends OptionsOf<typeof outsideIssuerOptions> {}

const required = ['iss', 'sub', 'aud', 'exp', 'iat']

/** Creates a trusted issuer outside this service, whose tokens are verified with `jose` (rule U1). Throws a `TypeError` of one line for invalid options. */
export function outsideIssuer(options: OutsideIssuerOptions): TrustedIssuer {
  const { grantsOf, isClient, algorithms, type, ...issuer } = outsideIssuerOptions.read(options)
  const rules: ClaimRules = { ...issuer, audience: audienceOf(issuer), required }
  if (!Array.isArray(algorithms) || algorithms.length === 0 || !algorithms.every((name) => knownAlgorithms.includes(name))) {
    throw new TypeError(
      `authentication: options.algorithms of the issuer ${rules.issuer} must be a non-empty array of ${knownAlgorithms.join(', ')}.`
    )
  }
  const listed = new Set<string>(algorithms)
  // Loaded here because most services have no issuer outside.
  const jose = import('jose')
  let report: ((fault: string) => void) | undefined
  const keys = remoteKeys(rules.issuer, issuer.jwksUrl, issuer.fetch, (fault) => report?.(fault))

  async function verify(token: string, form: TokenForm = readToken(token)): Promise<Claims> {
    if (!listed.has(form.header.alg)) throw invalidToken('alg is not an allowed algorithm')
    let code: unknown
    try {
      const { jwtVerify } = await jose
      await jwtVerify(token, keys, {
        algorithms: [...algorithms],
        typ: type,
        issuer: rules.issuer,
        audience: [...rules.audience],
        requiredClaims: required,
        // jose compares with whole seconds, and a claim may have a fraction. requireClaims checks the exact time.
        clockTolerance: clockToleranceSeconds + 1
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

  return { issuer: rules.issuer, verify, grantsOf, isClient, reportTo: (receiver) => void (report = receiver) }
}
