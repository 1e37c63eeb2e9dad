import { requirePluginNames } from '@concordat/plugin-options'
import type { FastifyContextConfig } from 'fastify'
import { type TokenIssuerOptions, tokenIssuerOptionNames } from './options.ts'
import { createIssuer, type TokenIssuer } from './token-issuer.ts'

/** The operations of `signInRoutes`. */
type SignInOperation = 'issueToken' | 'revokeToken'

/**
 * Options of `signInRoutes`: `findUser` and the other options of `tokenIssuer`, or an `issuer`. Set `issuer` for routes in several
 * versions, which then share one limit of concurrent password hashes, and to revoke sessions elsewhere.
 */
export type SignInRoutesOptions = (TokenIssuerOptions | { readonly issuer: TokenIssuer }) & {
  /** Verifies an access token that is to be revoked, and returns its claims, for example `ownTokens(…).verify`. Rejects for other tokens. */
  readonly verify: (token: string) => Promise<Parameters<TokenIssuer['revokeAccessToken']>[0]>
  /**
   * Returns the additional `config` of a route, for example the rate limit. By default, both routes have `public: 'ignoring-credentials'`,
   * because their clients have no token yet, or send the expired token, and the error codes of the operation in `openapi.errors`.
   * @default () => ({})
   */
  readonly routeConfig?: ((operation: SignInOperation) => FastifyContextConfig) | undefined
}

/** The options with their defaults. */
export interface RouteSettings extends Required<Pick<SignInRoutesOptions, 'verify'>> {
  readonly issuer: TokenIssuer
  readonly configOf: (operation: SignInOperation) => FastifyContextConfig
}

// A client of these routes has no token yet, or sends in the body the token that the request is about. Their responses are secrets, which no store
// of idempotency keys may hold.
const configs: Readonly<Record<SignInOperation, object>> = {
  issueToken: {
    public: 'ignoring-credentials',
    idempotency: 'off',
    openapi: {
      errors: [
        'INVALID_CREDENTIALS',
        'REFRESH_TOKEN_INVALID',
        'REFRESH_TOKEN_EXPIRED',
        'REFRESH_TOKEN_REVOKED',
        'REFRESH_TOKEN_REUSED',
        'LOGIN_ATTEMPTS_EXCEEDED',
        'LOGINS_OVERLOADED',
        'INVALID_TOKEN_REQUEST'
      ]
    }
  },
  revokeToken: { public: 'ignoring-credentials', idempotency: 'off' }
}

/** Returns the options with their defaults. Throws a `TypeError` of one line for invalid options. */
export function resolveRouteOptions(options: SignInRoutesOptions): RouteSettings {
  requirePluginNames<SignInRoutesOptions>('token-issuing', options, {
    ...tokenIssuerOptionNames,
    issuer: true,
    verify: true,
    routeConfig: true
  })
  const { verify, routeConfig = () => ({}) } = options
  if (typeof verify !== 'function') {
    throw new TypeError('token-issuing: options.verify must be a function that returns the claims of an access token.')
  }
  return {
    issuer: 'issuer' in options ? options.issuer : createIssuer(options),
    verify,
    configOf: (operation) => ({ ...configs[operation], ...routeConfig(operation) })
  }
}
