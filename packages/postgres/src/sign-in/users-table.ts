import { callback, describeOptions, type OptionsOf, required, value } from '@concordat/plugin-kit/options'
import type { TokenIssuerOptions, TokenUser } from '@concordat/token-issuing'
import type { Statements } from '../rows.ts'

type Issuer = Pick<TokenIssuerOptions, 'findUser' | 'findUserById' | 'onRehash'>

/** The description of {@link UserFunctions}. */
export const userFunctions = describeOptions('postgres', {
  /** Returns the user with this name. */
  findUser: required(callback<Issuer['findUser']>('returns a user')),
  /** Returns the user with this id. */
  findUserById: required(callback<Issuer['findUserById']>('returns a user')),
  /** Stores the hash of a password with the present cost. */
  onRehash: callback<NonNullable<Issuer['onRehash']>>('stores a hash')
})

/** The functions that find users who are not in a table of this database. */
export interface UserFunctions extends OptionsOf<typeof userFunctions> {}

/** The description of {@link UsersTable}. @readme */
export const usersTableOptions = describeOptions('postgres', {
  /** The table, or `schema.table`. */
  table: value<string>({ default: 'users' }),
  /** The column with the `sub` of the tokens, which never belongs to another user. */
  id: value<string>({ default: 'id' }),
  /** The column with the name. Upper and lower case are the same: it needs a unique index on `lower(email)`. */
  username: value<string>({ default: 'email' }),
  /** The column with the hash of `passwords().hash`. A user without it cannot sign in. */
  passwordHash: value<string>({ default: 'password_hash' }),
  /** The column with the names of the roles, as `text[]`, or with one as `text`. */
  roles: value<string>({ default: 'roles' }),
  /** Claims of the tokens and their columns, such as `{ org: 'clinic' }` for the tenant. A column that is NULL makes no claim. */
  claims: value<Readonly<Record<string, string>>>({ default: {}, names: { '*': true } })
})

/** Where users are: the names of a table and of its columns. */
export interface UsersTable extends OptionsOf<typeof usersTableOptions> {}

interface Row extends Omit<TokenUser, 'roles'> {
  readonly roles?: string | readonly string[]
}

/** The options with a column each. */
const columnOptions = ['id', 'username', 'passwordHash', 'roles'] as const

/** Returns the functions that find users in a table of the service. Throws a `TypeError` for an unknown name. */
export function usersIn(database: Pick<Statements, 'query'>, users: UsersTable): Required<UserFunctions> {
  const names = usersTableOptions.read(users, 'options.users')
  requireName('table', names.table, 'table')
  for (const name of columnOptions) requireName(name, names[name])
  for (const [claim, column] of Object.entries(names.claims)) requireName(`claims.${claim}`, column)
  const table = names.table.split('.').map(quoted).join('.')
  const [id, username, passwordHash, roles] = columnOptions.map((name) => quoted(names[name]))
  const claims = Object.entries(names.claims).map(([claim, column]) => `'${claim.replaceAll("'", "''")}', ${quoted(column)}`)
  const ownClaims = claims.length === 0 ? '' : `, jsonb_strip_nulls(jsonb_build_object(${claims.join(', ')})) AS claims`
  const select = `SELECT ${id}::text AS id, ${passwordHash} AS "passwordHash", to_jsonb(${roles}) AS roles${ownClaims} FROM ${table}`

  async function read(where: string, given: string): Promise<TokenUser | undefined> {
    const rows = await database.query<Row>(`${select} WHERE ${where} LIMIT 2`, [given])
    // Otherwise it would be a matter of chance which of them signs in.
    if (rows.length > 1)
      throw new Error(`postgres: several users in ${table} have the same ${username}. Create a unique index on lower(${username}).`)
    const [user] = rows
    return user && { ...user, roles: [user.roles ?? []].flat() }
  }

  return {
    // The issuer passes the canonical form of the name. PostgreSQL must not change it: its rules for letters differ from those of JavaScript.
    findUser: (name) => read(`lower(${username}) = $1`, name),
    findUserById: (subject) => read(`${id} = $1`, subject),
    // A password that was changed while the new hash was computed stays.
    onRehash: async (user, hash) => {
      await database.query(`UPDATE ${table} SET ${passwordHash} = $2 WHERE ${id} = $1 AND ${passwordHash} = $3`, [
        user.id,
        hash,
        user.passwordHash
      ])
    }
  }
}

function requireName(option: string, given: unknown, kind = 'column') {
  if (typeof given === 'string' && /^[^\0]{1,127}$/.test(given)) return
  throw new TypeError(`postgres: options.users.${option} must be the name of a ${kind}.`)
}

function quoted(name: string) {
  return `"${name.replaceAll('"', '""')}"`
}
