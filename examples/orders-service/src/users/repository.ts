import type { Statements } from '@concordat/postgres/rows'
import type { TokenUser } from '@concordat/token-issuing'
import type { Transaction } from '@concordat/work-queue'
import type { User } from './schemas.ts'

const columns = 'id, password_hash AS "passwordHash", ARRAY[role] AS roles'

/** Finds a user by the canonical form of an e-mail address. PostgreSQL must not change it: its rules for letters differ from those of JavaScript. */
export async function findUserByEmail(database: Statements, email: string): Promise<TokenUser | undefined> {
  const [user] = await database.query<TokenUser>(`SELECT ${columns} FROM users WHERE lower(email) = $1`, [email])
  return user
}

export async function findUser(database: Statements, id: string): Promise<TokenUser | undefined> {
  const [user] = await database.query<TokenUser>(`SELECT ${columns} FROM users WHERE id = $1`, [id])
  return user
}

export async function findUserRole(database: Statements, id: string): Promise<User | undefined> {
  const [user] = await database.query<User>('SELECT id, role FROM users WHERE id = $1', [id])
  return user
}

/** Gives a user another role, or leaves it. Returns the user, or `undefined` when there is none. */
export async function changeRole(database: Statements, id: string, role: User['role'] | undefined): Promise<User | undefined> {
  const [user] = await database.query<User>('UPDATE users SET role = coalesce($2, role) WHERE id = $1 RETURNING id, role', [
    id,
    role ?? null
  ])
  return user
}

/** Returns those of the users who exist and may see the orders of a customer, or what is public, if no customer is given. */
export async function usersWhoMaySee(database: Transaction, ids: readonly string[], customerId?: string): Promise<ReadonlySet<string>> {
  const { rows } = await database.query(
    `SELECT id::text FROM users WHERE id = ANY($1::uuid[]) AND ($2::uuid IS NULL OR role = 'staff' OR (role = 'customer' AND id = $2))`,
    [ids, customerId ?? null]
  )
  return new Set((rows as { readonly id: string }[]).map(({ id }) => id))
}

export async function replacePasswordHash(database: Statements, id: string, passwordHash: string): Promise<void> {
  await database.query('UPDATE users SET password_hash = $2 WHERE id = $1', [id, passwordHash])
}
