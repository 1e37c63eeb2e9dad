import { callback, describeOptions, type OptionsOf, required, value } from '@concordat/plugin-kit/options'
import { type Claims, clientIdOf, grantsIn } from './claims.ts'
import type { TokenForm } from './token-form.ts'

/** An issuer whose tokens are accepted: the result of `ownTokens`, `outsideIssuer` or `introspection`. */
export interface TrustedIssuer {
  /** The `iss` of its tokens. */
  readonly issuer: string
  /** Returns the claims of a valid token. Throws INVALID_TOKEN, TOKEN_EXPIRED or AUTHENTICATION_UNAVAILABLE. `form` is the parsed token, if it exists. */
  readonly verify: (token: string, form?: TokenForm) => Promise<Claims>
  /** Returns the names of the permissions and roles that the claims grant. */
  readonly grantsOf: (claims: Claims) => readonly string[]
  /** Returns whether the token was issued to a client that acts on its own behalf, and not to a user. */
  readonly isClient: (claims: Claims) => boolean
  /** Whether `verify` also accepts tokens that are not JWTs, and so do not name their issuer. */
  readonly verifiesOpaqueTokens?: boolean | undefined
  /** How long the claims may be cached, in seconds; at most and by default 60. */
  readonly cacheSeconds?: number | undefined
  /** Sets the function that logs faults of the issuer that concern only some tokens, such as an invalid key in its key set. The plugin calls it once. */
  readonly reportTo?: ((report: (fault: string) => void) => void) | undefined
}

/** The description of the options that all issuers share. */
export const issuerOptions = describeOptions('authentication', {
  /** The `iss` of the tokens. */
  issuer: required(value<string>()),
  /** The name or names of this service in `aud`. */
  audience: required(value<string | readonly string[]>()),
  /** The permissions and roles in the claims. By default `grantsIn('scope', 'roles')`. */
  grantsOf: callback<(claims: Claims) => readonly string[]>('returns the names of permissions and roles', {
    default: grantsIn('scope', 'roles')
  }),
  /** Whether a token belongs to a client, not a user. By default, if `sub` is the id of its client. */
  isClient: callback<(claims: Claims) => boolean>('returns whether a token was issued to a client', {
    default: (claims) => claims.sub === clientIdOf(claims)
  })
})

/** Returns the names of a service. Throws a `TypeError` of one line for a missing or invalid issuer or audience. */
export function audienceOf({ issuer, audience }: Pick<OptionsOf<typeof issuerOptions>, 'issuer' | 'audience'>): readonly string[] {
  if (!isName(issuer)) throw new TypeError('authentication: options.issuer must be the "iss" of the tokens: a string without spaces.')
  const names = [audience].flat()
  if (names.length === 0 || !names.every(isName)) {
    throw new TypeError(
      `authentication: options.audience of the issuer ${issuer} is missing or empty. Set it to the name of this service in "aud".`
    )
  }
  return names
}

function isName(value: unknown) {
  return typeof value === 'string' && /^\S+$/.test(value)
}
