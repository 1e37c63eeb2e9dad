import { randomUUID } from 'node:crypto'
import { describeOptions, integer, type OptionsOf, required, requirePeers, value } from '@concordat/plugin-kit/options'
import type { FastifyJWTOptions, JWT } from '@fastify/jwt'
import Fastify from 'fastify'
import { type ClaimRules, type Claims, clockToleranceSeconds, requireClaims } from './claims.ts'
import { invalidToken, tokenExpired } from './errors.ts'
import { type OwnKey, type PublicKeySet, publicKeySetOf, readKeys, type SigningKey } from './signing-keys.ts'
import { defaultMaxTokenLength, readToken, type TokenForm } from './token-form.ts'
import { audienceOf, issuerOptions, type TrustedIssuer } from './trusted-issuer.ts'

const ownTokensOptions = describeOptions('authentication', {
  ...issuerOptions.members,
  /** The first key with a `secret` or `privateKey` signs tokens, and all verify them. To rotate, put the new key first and remove the old one later. */
  keys: required(
    value<readonly OwnKey[]>({ names: [{ kid: true, algorithm: true, secret: true, privateKey: true, publicKey: true }] as const })
  ),
  /** The maximum time from `iat` to `exp`. */
  maxLifetimeSeconds: integer({ default: 900, min: 1, max: 86_400 })
})

/** Options of {@link ownTokens}. */
export interface OwnTokensOptions extends OptionsOf<typeof ownTokensOptions> {}

type ClaimsToSign = KnownClaims | (KnownClaims & Readonly<Record<string, unknown>>)
type KnownClaims = Pick<Claims, 'sub'> &
  Partial<Pick<Claims, 'iss' | 'aud' | 'exp' | 'iat' | 'nbf' | 'jti' | 'sid' | 'client_id' | 'scope' | 'roles'>>

/** Signs and verifies the service's own access tokens. */
export interface OwnTokens extends TrustedIssuer {
  /**
   * Signs an access token (RFC 9068). Absent `iss`, `aud`, `iat`, `nbf`, `exp` (as late as allowed) and `jti` are filled in.
   * Rejects with a `TypeError` for claims that `verify` would reject, and for `scope` and `roles` of another type.
   */
  readonly sign: (claims: ClaimsToSign) => Promise<string>
  readonly maxLifetimeSeconds: number
  /** The public keys, as a JSON Web Key Set (RFC 7517) that other services verify tokens with. HS256 has no public key: it is empty then. */
  readonly keySet: PublicKeySet
}

const requiredClaims = ['iss', 'sub', 'aud', 'exp', 'iat', 'nbf', 'jti']

/** Creates the signer and verifier of the service's own access tokens (rule U1). Throws a `TypeError` of one line for invalid options. */
export function ownTokens(options: OwnTokensOptions): OwnTokens {
  const { keys: ownKeys, grantsOf, isClient, ...issuer } = ownTokensOptions.read(options)
  const rules: ClaimRules = { ...issuer, audience: audienceOf(issuer), required: requiredClaims }
  const keys = readKeys(ownKeys)
  requirePeers('authentication: ownTokens()', ['@fastify/jwt@10.2'], import.meta)
  const algorithms = new Map(keys.map(({ kid, algorithm }) => [kid, algorithm]))
  const signingKid = keys.find(({ canSign }) => canSign)?.kid
  const jwts = jwtsOf(keys, rules)

  async function verify(token: string, form: TokenForm = readToken(token)): Promise<Claims> {
    const { kid, alg } = form.header
    // The key determines the algorithm, never the token.
    if (algorithms.get(kid) !== alg) throw invalidToken('kid or alg is unknown')
    const jwt = (await jwts)[kid] as JWT
    let code: unknown
    try {
      jwt.verify(token)
    } catch (error) {
      // Only the code, because the message may quote the token.
      code = (error as { code?: unknown }).code ?? 'unknown'
      if (code !== 'FAST_JWT_EXPIRED') throw invalidToken(`@fastify/jwt reports ${String(code)}`)
    }
    const claims = requireClaims(form.payload, rules, Date.now())
    if (code !== undefined) throw tokenExpired()
    return claims
  }

  async function sign(claims: ClaimsToSign): Promise<string> {
    if (signingKid === undefined)
      throw new TypeError('authentication: options.keys contains no key that can sign. Add a key with a secret or a privateKey.')
    const { iat = Math.floor(Date.now() / 1000) } = claims
    const { issuer: iss, audience, maxLifetimeSeconds } = rules
    const aud = audience.length === 1 ? audience[0] : audience
    const payload = { iss, aud, iat, nbf: iat, exp: iat + maxLifetimeSeconds, jti: randomUUID(), ...claims }
    try {
      const accepted = requireClaims(payload, rules, Date.now())
      if (accepted !== payload) throw invalidToken('scope is not a string, or roles is not a list')
      grantsOf(accepted)
    } catch (error) {
      throw new TypeError('authentication: the claims are not signed, because verify would reject them. See cause.', { cause: error })
    }
    const token = ((await jwts)[signingKid] as JWT).sign(payload)
    if (token.length > defaultMaxTokenLength)
      throw new TypeError(`authentication: the token exceeds ${defaultMaxTokenLength} characters. Remove some claims.`)
    return token
  }

  return {
    issuer: rules.issuer,
    maxLifetimeSeconds: rules.maxLifetimeSeconds,
    keySet: publicKeySetOf(keys),
    verify,
    sign,
    grantsOf,
    isClient
  }
}

// @fastify/jwt works only as a plugin, so it is registered on a separate instance that never listens: tokens can then be
// signed and verified outside of requests, and the service's requests have none of its decorators.
async function jwtsOf(keys: readonly SigningKey[], rules: ClaimRules): Promise<Readonly<Record<string, JWT>>> {
  const { default: fastifyJwt } = await import('@fastify/jwt')
  const host = Fastify()
  for (const { kid, algorithm, secret } of keys) {
    const options: FastifyJWTOptions = {
      namespace: kid,
      secret,
      sign: { algorithm, kid, header: { alg: algorithm, typ: 'at+jwt' } },
      verify: {
        algorithms: [algorithm],
        checkTyp: 'at+jwt',
        allowedIss: rules.issuer,
        allowedAud: [...rules.audience],
        requiredClaims: [...rules.required],
        clockTolerance: clockToleranceSeconds * 1000,
        allowedCritHeaders: [],
        cache: false
      }
    }
    host.register(fastifyJwt, options)
  }
  await host.ready()
  return host.jwt as unknown as Record<string, JWT>
}
