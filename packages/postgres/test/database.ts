import { randomUUID } from 'node:crypto'
import { fromPGlite, fromPool, type Postgres, type SqlClient } from '@concordat/postgres'
import { startPGlite } from '@concordat/test-harness/pglite'
import type { PGlite } from '@electric-sql/pglite'
import { Client, Pool, type PoolConfig, type QueryResult } from 'pg'
import tap, { type Test } from 'tap'

export const server: string = process.env['TEST_DATABASE_URL'] ?? ''
export const onServer: { skip?: string } = server === '' ? { skip: 'set TEST_DATABASE_URL to the address of a PostgreSQL server' } : {}

/** Returns the name of a schema for this test, which is dropped after the test. */
export function freshSchema(t: Test, schema: string = schemaName()): string {
  t.teardown(async () => {
    const client = new Client({ connectionString: server })
    await client.connect()
    await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    await client.end()
  })
  return schema
}

/**
 * Connects with a separate pool, as another process would. `errors` are those of lost connections. Its commits do not wait for the disk,
 * which makes a difference only when the server crashes.
 */
export function connect(t: Test, settings: PoolConfig = {}): { pool: Pool; database: Postgres; errors: unknown[] } {
  const pool = new Pool({ connectionString: server, max: 5, options: '-c synchronous_commit=off', ...settings })
  const errors: unknown[] = []
  t.teardown(() => pool.end())
  return { pool, database: fromPool(pool, { onError: (error) => errors.push(error) }), errors }
}

/** Creates a database on the pool in which `send` wraps each statement of a transaction. */
export function watched(pool: Pool, send: (sql: string, response: () => Promise<QueryResult>) => Promise<QueryResult>): Postgres {
  return fromPool({
    query: (sql, params) => pool.query(sql, params),
    on: (event, listener) => pool.on(event, listener),
    connect: (given) =>
      pool.connect((error, client) => {
        if (client === undefined) return given(error, undefined)
        return given(undefined, {
          query: (sql, params) => send(typeof sql === 'string' ? sql : sql.text, () => client.query(sql, params)),
          release: (destroy) => client.release(destroy),
          on: (event, listener) => client.on(event as 'error', listener),
          removeListener: (event, listener) => client.removeListener(event, listener)
        })
      })
  })
}

/** Returns the database for a store whose statements run in an open transaction. */
export function within(database: Postgres, open: SqlClient): Postgres {
  const query = async (sql: string, params?: readonly unknown[]) => (await open.query<{ json: string }>(sql, params)).rows
  return {
    ...database,
    query: async (sql, params) => (await query(sql, params)).map(({ json }) => JSON.parse(json)),
    fields: async ({ text, values }) => (await query(text, values)).map(({ json }) => [json])
  }
}

let engine: Promise<PGlite> | undefined

/** Returns the PGlite of this file, since each takes a second to start, with a schema for this test. */
export async function inMemory(): Promise<{ database: Postgres; pglite: PGlite; schema: string }> {
  engine ??= begin()
  const pglite = await engine
  return { database: fromPGlite(pglite), pglite, schema: schemaName() }
}

async function begin() {
  const begun = await startPGlite()
  tap.teardown(() => begun.close())
  return begun
}

/** Returns a unique name of a schema. */
export function schemaName(): string {
  return `concordat_test_${randomUUID().slice(0, 8)}`
}

/** Does work in a transaction of a client of the pool. */
export async function inTransaction(pool: Pool, work: (open: { query: Pool['query'] }) => Promise<void>): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    await work(client)
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  } finally {
    client.release()
  }
}
