// Everything that the parts of the soak share.
import { setTimeout as delay } from 'node:timers/promises'
import { passwords } from '@concordat/token-issuing'
import { Client, type Reply, type Surroundings, type User } from './client.ts'
import type { Cluster } from './cluster.ts'
import type { Fleet } from './fleet.ts'
import type { Ledger } from './ledger.ts'
import type { Receivers } from './receivers.ts'

export interface World extends Surroundings {
  readonly cluster: Cluster
  readonly fleet: Fleet
  readonly receivers: Receivers
  readonly ledger: Ledger
  readonly random: () => number
  readonly customers: readonly Client[]
  readonly staff: readonly Client[]
  /** Products with enough stock for the whole run, with little, and those whose description counts changes. */
  readonly products: readonly string[]
  readonly scarce: readonly string[]
  readonly counters: readonly string[]
  readonly nextKey: () => string
}

const customerCount = 24
const staffCount = 3
export const enoughStock = 1_000_000
export const littleStock = 30

/** Prepares products and users in the database. The passwords are new ones. */
export async function populate(
  cluster: Cluster,
  password: string
): Promise<Pick<World, 'products' | 'scarce' | 'counters'> & { users: User[] }> {
  const hash = await passwords().hash(password)
  // A service in production refuses the ids of the demo users.
  const customers = await cluster.query<{ id: string }>(
    `SELECT id::text FROM customers WHERE email NOT IN ('ada@example.com', 'max@example.com') ORDER BY id LIMIT $1`,
    [customerCount]
  )
  const staff = Array.from({ length: staffCount }, (_, index) => `00000000-0000-7000-8000-00000000000${index}`)
  const users: User[] = [
    ...customers.map(({ id }, index) => ({ id, email: `customer-${index}@shop.example`, password, role: 'customer' as const })),
    ...staff.map((id, index) => ({ id, email: `staff-${index}@shop.example`, password, role: 'staff' as const }))
  ]
  for (const { id, email, role } of users)
    await cluster.query('INSERT INTO users (id, email, password_hash, role) VALUES ($1, $2, $3, $4)', [id, email, hash, role])
  await cluster.query(`UPDATE products SET units_in_stock = $1, discontinued = false, currency = 'EUR', description = NULL`, [enoughStock])
  const ids = (await cluster.query<{ id: string }>('SELECT id::text FROM products ORDER BY id')).map(({ id }) => id)
  const [scarce, counters, products] = [ids.slice(0, 3), ids.slice(3, 15), ids.slice(15)]
  await cluster.query('UPDATE products SET units_in_stock = $1 WHERE id = ANY($2)', [littleStock, scarce])
  return { users, scarce, counters, products }
}

/** Returns clients for users, each with an address of its own. */
export function clientsOf(around: Surroundings, users: readonly User[]): Client[] {
  return users.map((user, index) => new Client(around, user, process.platform === 'linux' ? `127.0.1.${index + 1}` : '127.0.0.1'))
}

export function pick<Value>({ random }: Pick<World, 'random'>, values: readonly Value[]): Value | undefined {
  return values[Math.floor(random() * values.length)]
}

/** Waits as a client does before it tries something again by itself. */
export async function pauseAfter(client: Client, reply: Reply | undefined): Promise<void> {
  if (reply?.status === 401) return client.signIn('refresh')
  const seconds = Number(reply?.headers['retry-after'] ?? 0)
  await delay(seconds * 1000 + 50 + Math.random() * 450)
}
