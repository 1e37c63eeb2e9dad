import { randomUUID } from 'node:crypto'
import { Pool } from 'pg'

/** The reason why tests on PostgreSQL are skipped, or false if they run. */
export const skip: string | false = process.env['TEST_DATABASE_URL'] === undefined && 'TEST_DATABASE_URL is not set'

/** Returns a pool with a separate schema, which ends with the test. */
export async function openSchema(t: { teardown(work: () => Promise<void>): void }): Promise<Pool> {
  const schema = `pagination_${randomUUID().replaceAll('-', '')}`
  // Neither the time zone nor the date style of a session may affect a result.
  const options = `-c search_path=${schema} -c timezone=America/St_Johns -c datestyle=SQL,DMY`
  const pool = new Pool({ connectionString: process.env['TEST_DATABASE_URL'], max: 2, options })
  await pool.query(`create schema ${schema}`)
  t.teardown(async () => {
    await pool.query(`drop schema ${schema} cascade`)
    await pool.end()
  })
  return pool
}
