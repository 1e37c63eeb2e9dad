import { hash } from 'node:crypto'
import { type OwnTokens, ownTokens, type RevocationFeed, revocationFeed, type TokenIssuer, tokenIssuer } from '@concordat/authentication'
import { postgresLoginAttempts } from '@concordat/postgres/login-attempts'
import { postgresRefreshTokens } from '@concordat/postgres/refresh-tokens'
import { postgresRevocations } from '@concordat/postgres/revocations'
import type { Configuration } from '../configuration.ts'
import type { Database } from '../database/database.ts'
import { findUser, findUserByEmail, replacePasswordHash } from '../users/repository.ts'

// One name for all processes, wherever they listen.
const name = 'orders-service'

/** How users sign in, and how what they were given is checked. */
export interface Sessions {
  readonly accessTokens: OwnTokens
  readonly revocations: RevocationFeed
  readonly issuer: TokenIssuer
}

/** Access tokens of 15 minutes, refresh tokens that are used once; both end when they are revoked, in every process on this database. */
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

// The same in every process, and stays when another secret comes before it.
function kidOf(secret: string) {
  return hash('sha256', `kid of ${secret}`, 'base64url').slice(0, 11)
}
