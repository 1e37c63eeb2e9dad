import { hash } from 'node:crypto'
import { type OwnTokens, ownTokens, type RevocationFeed, revocationFeed, type TokenIssuer, tokenIssuer } from '@concordat/authentication'
import { postgresLoginAttempts } from '@concordat/postgres/login-attempts'
import { postgresRefreshTokens } from '@concordat/postgres/refresh-tokens'
import { postgresRevocations } from '@concordat/postgres/revocations'
import type { Configuration } from '../configuration.ts'
import type { Database } from '../database/database.ts'
import { findUser, findUserByEmail, replacePasswordHash } from '../users/repository.ts'

// The same name in all processes, at any address.
const name = 'orders-service'

/** Issues tokens to users who sign in, and verifies them. */
export interface Sessions {
  readonly accessTokens: OwnTokens
  readonly revocations: RevocationFeed
  readonly issuer: TokenIssuer
}

/**
 * Opens the sessions: access tokens that are valid for 15 minutes and refresh tokens that can be used once. A revocation ends both, in
 * every process on this database.
 */
export function sessionsOf(configuration: Configuration, database: Database, onError: (error: unknown) => void): Sessions {
  const keys = configuration.tokenSecrets.map((secret) => ({ kid: kidOf(secret), algorithm: 'HS256', secret }) as const)
  const accessTokens = ownTokens({ issuer: name, audience: name, keys })
  const revocations = revocationFeed({ store: postgresRevocations(database.postgres), onError })
  const issuer = tokenIssuer({
    sign: accessTokens.sign,
    findUser: (email) => findUserByEmail(database, email),
    findUserById: (id) => findUser(database, id),
    onRehash: ({ id }, passwordHash) => replacePasswordHash(database, id, passwordHash),
    refreshKeys: configuration.refreshSecrets,
    refreshTokens: postgresRefreshTokens(database.postgres),
    attemptStore: postgresLoginAttempts(database.postgres),
    revocations,
    onError
  })
  return { accessTokens, revocations, issuer }
}

// The same in every process. It does not change when another secret is added before this one.
function kidOf(secret: string) {
  return hash('sha256', `kid of ${secret}`, 'base64url').slice(0, 11)
}
