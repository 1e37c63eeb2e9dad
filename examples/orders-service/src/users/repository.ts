import type { Statements } from '@concordat/postgres/rows'
import type { TokenUser } from '@concordat/token-issuing'
import type { Transaction } from '@concordat/work-queue'

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

/** Returns whether a subscriber, as `subscriberOf` names them, still exists and has the same role. */
export async function isStillSubscriber(database: Transaction, subscriber: string): Promise<boolean> {
  const [role, id] = subscriber.split(':')
  return (await database.query('SELECT FROM users WHERE id = $1 AND role = $2', [id, role])).rows.length > 0
}

export async function replacePasswordHash(database: Statements, id: string, passwordHash: string): Promise<void> {
  await database.query('UPDATE users SET password_hash = $2 WHERE id = $1', [id, passwordHash])
}
