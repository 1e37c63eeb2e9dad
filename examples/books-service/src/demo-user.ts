// [auth] file
import type { OpenDatabase } from '@concordat/postgres/open'
import { passwords } from '@concordat/token-issuing'

/** A user for development. The password is public, so the user exists only where no other machine can reach the service. */
export const demoUser = { username: 'ada@example.com', password: 'correct horse battery staple' }

const id = '01911062-dc00-7000-8000-0000000000f5'

/** Creates the user, or refuses a database that has it: one of development must not be used where others can reach the service. */
export async function createDemoUser(database: OpenDatabase, isLocal: boolean): Promise<void> {
  const [user] = await database.query('SELECT id FROM users WHERE id = $1', [id])
  if (user !== undefined && !isLocal)
    throw new Error(
      `This database has the user ${demoUser.username} of development, whose password is public. Delete it, or use another database.`
    )
  if (user !== undefined || !isLocal) return
  const hash = await passwords().hash(demoUser.password)
  const insertion = `INSERT INTO users (id, email, password_hash, roles) VALUES ($1, $2, $3, '{editor}') ON CONFLICT DO NOTHING`
  await database.query(insertion, [id, demoUser.username, hash])
}
