import { createPrivateKey, createPublicKey, hash } from 'node:crypto'
import { type OwnTokens, ownTokens, type RevocationFeed, revocationFeed } from '@concordat/authentication'
import { credentialLimit } from '@concordat/rate-limiting'
import { type SignInRoutesOptions, type TokenIssuer, tokenIssuer } from '@concordat/token-issuing'
import { loginAttemptMigrations, postgresLoginAttemptStore } from '../login-attempts.ts'
import type { Migration } from '../migrations/migration.ts'
import { postgresRefreshTokenStore, refreshTokenMigrations } from '../refresh-tokens.ts'
import { postgresRevocationStore, revocationMigrations } from '../revocations.ts'
import { type SignInOptions, signInOptions } from './options.ts'
import { type UserFunctions, type UsersTable, userFunctions, usersIn } from './users-table.ts'

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
  for (const [option, secrets] of Object.entries({ tokenSecrets, refreshSecrets })) {
    if (!Array.isArray(secrets) || secrets.length === 0)
      throw new TypeError(`postgres: options.${option} must be a non-empty array. Add a secret of at least 32 random bytes.`)
  }
  const accessTokens = ownTokens({ issuer: name, audience: name, keys: tokenSecrets.map(keyOf) })
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
  return 'findUser' in users ? userFunctions.read(users, 'options.users') : usersIn(database, users)
}

const algorithms: Readonly<Record<string, 'ES256' | 'EdDSA' | 'RS256'>> = { ec: 'ES256', ed25519: 'EdDSA', rsa: 'RS256' }

function keyOf(secret: string, index: number) {
  if (!/-----BEGIN/.test(secret)) return { kid: kidOf(secret), algorithm: 'HS256', secret } as const
  try {
    const privateKey = createPrivateKey(secret)
    // Whatever the spaces and line ends of the text.
    const publicKey = createPublicKey(privateKey).export({ format: 'pem', type: 'spki' }) as string
    return { kid: kidOf(publicKey), algorithm: algorithms[privateKey.asymmetricKeyType as string] ?? 'ES256', privateKey }
  } catch {
    // The error of node:crypto is omitted: it could quote the key.
    throw new TypeError(
      `postgres: options.tokenSecrets[${index}] cannot be read as a private key. Use PKCS #8 in PEM, as from: openssl genpkey -algorithm ED25519`
    )
  }
}

// The same in every process. It does not change when another secret is added before this one.
function kidOf(secret: string) {
  return hash('sha256', `kid of ${secret}`, 'base64url').slice(0, 11)
}
