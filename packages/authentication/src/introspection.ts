import { describeOptions, number, type OptionsOf, required, value } from '@concordat/plugin-kit/options'
import { type ClaimRules, type Claims, clientIdOf, requireClaims } from './claims.ts'
import { authenticationUnavailable, invalidToken } from './errors.ts'
import { fetchJson, fetchOption, requireSecureUrl } from './remote-json.ts'
import { audienceOf, issuerOptions, type TrustedIssuer } from './trusted-issuer.ts'

const introspectionOptions = describeOptions('authentication', {
  ...issuerOptions.members,
  /** The https URL of the introspection endpoint. */
  url: required(value<string>()),
  /** The client id of this service at the issuer. */
  clientId: required(value<string>()),
  /** The client secret of this service, which authenticates it with HTTP Basic (RFC 6749 §2.3.1). */
  clientSecret: required(value<string>()),
  /** How long an active token is cached, at most until its `exp`. A token that its issuer revoked may still be accepted for this long. */
  cacheSeconds: number({ default: 10, max: 60 }),
  /** Sends the introspection requests, for example through a proxy. By default the global `fetch`. */
  fetch: fetchOption()
})

/** Options of {@link introspection}. */
export interface IntrospectionOptions extends OptionsOf<typeof introspectionOptions> {}

const timeoutMs = 5000
const retryAfterSeconds = 5
// RFC 6750 §2.1. The endpoint need not be called for anything else.
const tokenShape = /^[\w.~+/-]+=*$/
const requiredClaims = ['iss', 'sub', 'aud', 'exp', 'iat']

/**
 * Creates a trusted issuer whose tokens are verified by its introspection endpoint (RFC 7662): opaque tokens, and JWTs with its `iss`. In its
 * responses, all claims are optional: `iss` and `aud` are checked where present, `sub` is otherwise the client, `exp` the end of the time in
 * the cache, and `iat` 0, so that every revocation of the subject applies. Throws a `TypeError` of one line for invalid options.
 */
export function introspection(options: IntrospectionOptions): TrustedIssuer {
  const settings = introspectionOptions.read(options)
  const { url, clientId, clientSecret, cacheSeconds, grantsOf, isClient } = settings
  // The endpoint knows revoked tokens, so their lifetime needs no limit.
  const maxLifetimeSeconds = Number.POSITIVE_INFINITY
  const { issuer } = settings
  const rules: ClaimRules = { issuer, audience: audienceOf(settings), maxLifetimeSeconds, required: requiredClaims }
  requireSecureUrl(`options.url of the issuer ${issuer}`, url)
  for (const [name, value] of Object.entries({ clientId, clientSecret })) {
    if (typeof value !== 'string' || value === '') {
      throw new TypeError(`authentication: options.${name} of the issuer ${issuer} must be a non-empty string.`)
    }
  }
  const credentials = Buffer.from(`${formEncoded(clientId)}:${formEncoded(clientSecret)}`).toString('base64')
  const headers = { accept: 'application/json', authorization: `Basic ${credentials}` }

  async function introspect(token: string) {
    const body = new URLSearchParams({ token, token_type_hint: 'access_token' })
    const init = { method: 'POST', headers, body, signal: AbortSignal.timeout(timeoutMs) }
    const response = (await fetchJson(settings.fetch, url, init)) as Readonly<Record<string, unknown>> | null
    if (typeof response?.['active'] !== 'boolean')
      throw new Error(`${url} returned a response without "active". Set the URL of an introspection endpoint (RFC 7662).`)
    return response
  }

  async function verify(token: string): Promise<Claims> {
    if (!tokenShape.test(token)) throw invalidToken('it contains characters that access tokens cannot have')
    const {
      active,
      token_type: type = 'Bearer',
      ...claims
    } = await introspect(token).catch((error: unknown) => {
      throw authenticationUnavailable(retryAfterSeconds, error)
    })
    if (!active) throw invalidToken('the issuer reports that it is not active')
    // DPoP tokens, for example, are not valid without a proof (RFC 9449 §7.1).
    if (typeof type !== 'string' || type.toLowerCase() !== 'bearer') throw invalidToken('token_type is not Bearer')
    const now = Date.now()
    const exp = Math.floor(now / 1000) + Math.ceil(cacheSeconds) + 1
    const defaults = { iss: issuer, aud: rules.audience, sub: clientIdOf(claims), iat: 0, exp }
    return requireClaims(Object.freeze({ ...defaults, ...claims }), rules, now)
  }

  return { issuer, verify, grantsOf, isClient, verifiesOpaqueTokens: true, cacheSeconds }
}

function formEncoded(text: string) {
  return new URLSearchParams([['', text]]).toString().slice(1)
}
