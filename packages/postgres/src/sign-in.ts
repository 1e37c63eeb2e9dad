import { hash } from 'node:crypto'
import { type OwnTokens, ownTokens, type RevocationFeed, revocationFeed } from '@concordat/authentication'
import { callback, describeOptions, type OptionsOf, required, requireKnownNames, value } from '@concordat/plugin-options'
import { credentialLimit } from '@concordat/rate-limiting'
import { type SignInRoutesOptions, type TokenIssuer, tokenIssuer } from '@concordat/token-issuing'
import { loginAttemptMigrations, postgresLoginAttemptStore } from './login-attempts.ts'
import type { Migration } from './migration.ts'
import type { OpenDatabase } from './open/opened.ts'
import { postgresRefreshTokenStore, refreshTokenMigrations } from './refresh-tokens.ts'
import { postgresRevocationStore, revocationMigrations } from './revocations.ts'
import { type UserFunctions, usersIn, type usersTableOptions } from './users-table.ts'

/** Where users are: the names of a table and of its columns. */
export interface UsersTable extends OptionsOf<typeof usersTableOptions> {}

/** The description of {@link SignInOptions}. @readme */
export const signInOptions = describeOptions('postgres', {
  /** The database that `openDatabase` returned. */
  database: required(value<Pick<OpenDatabase, 'postgres' | 'query'>>()),
  /** The `iss` and `aud` of the access tokens: the same in all processes, at any address. */
  name: required(value<string>()),
  /** The secrets that sign access tokens, each at least 32 random bytes, the current one first. */
  tokenSecrets: required(value<readonly string[]>()),
  /** The secrets from which refresh tokens are derived, in the same form. */
  refreshSecrets: required(value<readonly string[]>()),
  /** The table of the users, or the functions `findUser`, `findUserById` and `onRehash` of a service with users elsewhere. */
  users: value<UsersTable | UserFunctions>({ default: {} }),
  /** Called with errors that did not affect a response, for the log. */
  onError: callback<(error: unknown) => void>('receives an error', { default: () => {} }),
  /** The schema of the stores. */
  schema: value<string>({ default: 'concordat' })
})

/** Options of {@link signIn}. */
export interface SignInOptions extends OptionsOf<typeof signInOptions> {}

/** What a service needs so that its users can sign in. */
export interface SignIn {
  /** Signs and verifies access tokens, for `issuers` of authentication. */
  readonly accessTokens: OwnTokens
  /** The revocations of all processes, for `revocations` of authentication. */
  readonly revocations: RevocationFeed
  /** Ends sessions outside of the routes, for example with `revokeSubject` after a change of roles. */
  readonly issuer: TokenIssuer
  /** The options of the routes of `@concordat/token-issuing`, with the limit for attempts from one address. */
  readonly routes: SignInRoutesOptions
}

/** The migrations that create the tables of {@link signIn}; pass them to `migrate`. The table of the users belongs to the service. */
export const signInMigrations: readonly Migration[] = [...loginAttemptMigrations, ...refreshTokenMigrations, ...revocationMigrations]

/**
 * Issues tokens to users who sign in, and verifies them: access tokens that are valid for 15 minutes, and refresh tokens that can be used once. A
 * revocation ends both, in every process on this database. Throws a `TypeError` of one line for invalid options.
 */
export function signIn(options: SignInOptions): SignIn {
  const { database, name, tokenSecrets, refreshSecrets, users, onError, schema } = signInOptions.read(options)
  const keys = tokenSecrets.map((secret) => ({ kid: kidOf(secret), algorithm: 'HS256', secret }) as const)
  const accessTokens = ownTokens({ issuer: name, audience: name, keys })
  const revocations = revocationFeed({ store: postgresRevocationStore(database.postgres, { schema }), onError })
  const issuer = tokenIssuer({
    ...functionsOf(users, database),
    sign: accessTokens.sign,
    refreshKeys: refreshSecrets,
    stores: {
      refreshTokens: postgresRefreshTokenStore(database.postgres, { schema }),
      loginAttempts: postgresLoginAttemptStore(database.postgres, { schema })
    },
    revocations,
    onError
  })
  const routes = { issuer, verify: accessTokens.verify, routeConfig: () => ({ rateLimit: credentialLimit }) }
  return { accessTokens, revocations, issuer, routes }
}

function functionsOf(users: UsersTable | UserFunctions, database: SignInOptions['database']): UserFunctions {
  if (!('findUser' in users)) return usersIn(database, users as UsersTable)
  requireKnownNames<UserFunctions>('postgres', users, { findUser: true, findUserById: true, onRehash: true }, 'options.users')
  return users
}

// The same in every process. It does not change when another secret is added before this one.
function kidOf(secret: string) {
  return hash('sha256', `kid of ${secret}`, 'base64url').slice(0, 11)
}
