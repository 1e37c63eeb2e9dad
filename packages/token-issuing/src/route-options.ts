import { callback, describeOptions, instance, type OptionsOf, required, value } from '@concordat/plugin-kit/options'
import type { FastifyContextConfig } from 'fastify'
import type { TokenIssuer } from './token-issuer.ts'

type SignInOperation = 'issueToken' | 'revokeToken'

/** The description of {@link SignInRoutesOptions}. */
export const signInRoutesOptions = describeOptions('token-issuing', {
  /** Routes in several versions share one. */
  issuer: required(instance<TokenIssuer>([], 'TokenIssuer: the result of tokenIssuer()')),
  /** Returns the claims of an access token: `tokens.verify`. */
  verify: required(
    callback<(token: string) => Promise<Parameters<TokenIssuer['revokeAccessToken']>[0]>>('returns the claims of an access token')
  ),
  /** Users who sign in from this machine only, by name, such as those of development, whose passwords are known. Others get `INVALID_CREDENTIALS`. */
  localUsers: value<readonly string[]>({ default: [] }),
  /** Returns additional `config` of `issueToken` and `revokeToken`. */
  routeConfig: callback<(operation: SignInOperation) => FastifyContextConfig>('returns the config of a route', { default: () => ({}) })
})

/** Options of `signInRoutes`. */
export interface SignInRoutesOptions extends OptionsOf<typeof signInRoutesOptions> {}

// A client of these routes has no token yet, or sends in the body the token that the request is about. Their responses are secrets, which no store
// of idempotency keys may hold.
/** The `config` of each route. */
export const configs: Readonly<Record<SignInOperation, object>> = {
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
