import type { Statements } from '@concordat/postgres/rows'
import type { TokenUser } from '@concordat/token-issuing'

const columns = 'id, password_hash AS "passwordHash", ARRAY[role] AS roles'

export async function findUserByEmail(database: Statements, email: string): Promise<TokenUser | undefined> {
  const [user] = await database.query<TokenUser>(`SELECT ${columns} FROM users WHERE lower(email) = lower($1)`, [email])
  return user
}

export async function findUser(database: Statements, id: string): Promise<TokenUser | undefined> {
  const [user] = await database.query<TokenUser>(`SELECT ${columns} FROM users WHERE id = $1`, [id])
  return user
}

export async function replacePasswordHash(database: Statements, id: string, passwordHash: string): Promise<void> {
  await database.query('UPDATE users SET password_hash = $2 WHERE id = $1', [id, passwordHash])
}
