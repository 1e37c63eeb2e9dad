import { randomUUID } from 'node:crypto'
import pg from 'pg'

/** Why tests on PostgreSQL are skipped; false when they run. */
export const skip: string | false = process.env['TEST_DATABASE_URL'] === undefined && 'TEST_DATABASE_URL is not set'

/** A pool in a schema of its own, which ends with the test. */
export async function openSchema(t: { teardown(work: () => Promise<void>): void }): Promise<pg.Pool> {
  const schema = `pagination_${randomUUID().replaceAll('-', '')}`
  // Neither the time zone of a session nor its style of dates may show in an answer.
  const options = `-c search_path=${schema} -c timezone=America/St_Johns -c datestyle=SQL,DMY`
  const pool = new pg.Pool({ connectionString: process.env['TEST_DATABASE_URL'], max: 2, options })
  await pool.query(`create schema ${schema}`)
  t.teardown(async () => {
    await pool.query(`drop schema ${schema} cascade`)
    await pool.end()
  })
  return pool
}
