import { fromPool, migrate } from '@concordat/postgres'
import { idempotencyMigrations } from '@concordat/postgres/idempotency'
import type { Pool } from 'pg'

/** Creates the tables of the service for the soak tests. The key of an order is not unique, so that duplicates can be counted. */
export async function makeTables(pool: Pool, schema: string): Promise<void> {
  await migrate(fromPool(pool), idempotencyMigrations, { schema })
  await pool.query(`CREATE TABLE ${schema}.orders (id uuid PRIMARY KEY, client_key text NOT NULL)`)
  await pool.query(`CREATE TABLE ${schema}.events (order_id uuid NOT NULL)`)
}
