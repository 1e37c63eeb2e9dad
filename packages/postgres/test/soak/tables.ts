import { fromPool, migrate } from '@concordat/postgres'
import { idempotencyMigrations } from '@concordat/postgres/idempotency'
import type { Pool } from 'pg'

/** What the service of the soaks needs. The key of an order is not unique, so that a double would be there to count. */
export async function makeTables(pool: Pool, schema: string): Promise<void> {
  await migrate(fromPool(pool), idempotencyMigrations, { schema })
  await pool.query(`CREATE TABLE ${schema}.orders (id uuid PRIMARY KEY, client_key text NOT NULL)`)
  await pool.query(`CREATE TABLE ${schema}.events (order_id uuid NOT NULL)`)
}
