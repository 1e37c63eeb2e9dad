import { randomUUID } from 'node:crypto'
import { fromPGlite, fromPool, type Postgres } from '@concordat/postgres'
import { PGlite } from '@electric-sql/pglite'
import pg from 'pg'
import type { Test } from 'tap'

export const server: string | undefined = process.env['TEST_DATABASE_URL']
export const without = 'set TEST_DATABASE_URL to the address of a PostgreSQL server'

/** A schema of the test's own, that is dropped after it. */
export function freshSchema(t: Test): string {
  const schema = `concordat_test_${randomUUID().slice(0, 8)}`
  t.teardown(async () => {
    const client = new pg.Client({ connectionString: server })
    await client.connect()
    await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    await client.end()
  })
  return schema
}

/** A pool of its own, as another process would have; `errors` are those of broken connections. */
export function connect(t: Test, settings: pg.PoolConfig = {}): { pool: pg.Pool; database: Postgres; errors: unknown[] } {
  const pool = new pg.Pool({ connectionString: server, max: 5, ...settings })
  const errors: unknown[] = []
  t.teardown(() => pool.end())
  return { pool, database: fromPool(pool, { onError: (error) => errors.push(error) }), errors }
}

export async function inMemory(t: Test): Promise<Postgres> {
  const engine = await PGlite.create('memory://')
  t.teardown(() => engine.close())
  return fromPGlite(engine)
}
