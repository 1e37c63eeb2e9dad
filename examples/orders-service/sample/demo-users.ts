import type { OpenDatabase } from '@concordat/postgres/open'
import { passwords } from '@concordat/token-issuing'
import { sampleCustomers } from './data.ts'

const password = 'correct horse battery staple'
const customers = sampleCustomers.filter(({ email }) => email === 'ada@example.com' || email === 'max@example.com')
const demoUsers = [
  ...customers.map(({ id, email }) => ({ id, email, role: 'customer' })),
  { id: '01911062-dc00-7000-8000-0000000000f5', email: 'ops@example.com', role: 'staff' },
  { id: '01911062-dc00-7000-8000-0000000000f6', email: 'admin@example.com', role: 'administrator' }
]
/** Their names, with which only clients on this machine sign in. */
export const demoUsernames: readonly string[] = demoUsers.map(({ email }) => email)
const ids = demoUsers.map(({ id }) => id)

/** Creates two customers, one member of the staff and one administrator, for development only: their password is public. */
export async function seedDemoUsers(database: OpenDatabase): Promise<void> {
  if ((await countDemoUsers(database)) === demoUsers.length) return
  const { hash } = passwords()
  for (const { id, email, role } of demoUsers) {
    await database.query(`INSERT INTO users (id, email, password_hash, role) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`, [
      id,
      email,
      await hash(password),
      role
    ])
  }
}

/** Throws when the database has the demo users: a development database must not be used where others can reach the service. */
export async function refuseDemoUsers(database: OpenDatabase): Promise<void> {
  if ((await countDemoUsers(database)) > 0) {
    throw new Error(
      'This database has the demo users, whose password is public. Delete them from the table "users", or use another database.'
    )
  }
}

async function countDemoUsers(database: OpenDatabase) {
  const [row] = await database.query<{ users: number }>('SELECT count(*) AS users FROM users WHERE id = ANY($1)', [ids])
  return row?.users ?? 0
}
