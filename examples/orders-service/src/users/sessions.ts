import { hash } from 'node:crypto'
import { ownTokens, revocationFeed } from '@concordat/authentication'
import { postgresLoginAttemptStore } from '@concordat/postgres/login-attempts'
import type { OpenDatabase } from '@concordat/postgres/open'
import { postgresRefreshTokenStore } from '@concordat/postgres/refresh-tokens'
import { postgresRevocationStore } from '@concordat/postgres/revocations'
import { credentialLimit } from '@concordat/rate-limiting'
import { type SignInRoutesOptions, tokenIssuer } from '@concordat/token-issuing'
import type { Configuration } from '../configuration.ts'
import { findUser, findUserByEmail, replacePasswordHash } from './repository.ts'

// The same name in all processes, at any address.
const name = 'orders-service'

/**
 * Issues tokens to users who sign in, and verifies them: access tokens that are valid for 15 minutes and refresh tokens that can be used once. A
 * revocation ends both, in every process on this database.
 */
export function sessionsOf(configuration: Configuration, database: OpenDatabase, onError: (error: unknown) => void) {
  const keys = configuration.tokenSecrets.map((secret) => ({ kid: kidOf(secret), algorithm: 'HS256', secret }) as const)
  const accessTokens = ownTokens({ issuer: name, audience: name, keys })
  const revocations = revocationFeed({ store: postgresRevocationStore(database.postgres), onError })
  const issuer = tokenIssuer({
    sign: accessTokens.sign,
    findUser: (email) => findUserByEmail(database, email),
    findUserById: (id) => findUser(database, id),
    onRehash: ({ id }, passwordHash) => replacePasswordHash(database, id, passwordHash),
    refreshKeys: configuration.refreshSecrets,
    stores: {
      refreshTokens: postgresRefreshTokenStore(database.postgres),
      loginAttempts: postgresLoginAttemptStore(database.postgres)
    },
    revocations,
    onError
  })
  /** The options of the routes with which users sign in and out. */
  const routes: SignInRoutesOptions = {
    issuer,
    verify: accessTokens.verify,
    routeConfig: () => ({ rateLimit: credentialLimit })
  }
  return { accessTokens, revocations, routes }
}

// The same in every process. It does not change when another secret is added before this one.
function kidOf(secret: string) {
  return hash('sha256', `kid of ${secret}`, 'base64url').slice(0, 11)
}
