import type { Statements } from '@concordat/postgres/rows'
import type { Transaction } from '@concordat/work-queue'
import type { User } from './schemas.ts'

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
