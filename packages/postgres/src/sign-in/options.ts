import { callback, describeOptions, type OptionsOf, required, value } from '@concordat/plugin-kit/options'
import type { OpenDatabase } from '../open/opened.ts'
import type { UserFunctions, UsersTable } from './users-table.ts'

/** The description of {@link SignInOptions}. */
export const signInOptions = describeOptions('postgres', {
  /** The database that `openDatabase` returned. */
  database: required(value<Pick<OpenDatabase, 'postgres' | 'query'>>()),
  /** The `iss` and `aud` of the access tokens: the same in all processes, at any address. */
  name: required(value<string>()),
  /**
   * What signs access tokens, the current one first: secrets of at least 32 random bytes, or private keys in PEM (P-256, Ed25519 or RSA), whose public
   * parts other services get from `accessTokens.keySet`.
   */
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
