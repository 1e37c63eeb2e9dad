import { fileURLToPath } from 'node:url'
import { compileCache } from '@concordat/test-harness/child'
import { type CrashReport, type CrashSoak, crashSoak } from '@concordat/test-harness/crash-soak'
import { type FleetProgram } from '@concordat/test-harness/fleet'
import { Pool } from 'pg'
import { makeTables } from './tables.ts'

/** The contents of the database at the end. */
export interface Counts {
  readonly rows: number
  readonly events: number
  /** The number of keys with more than one row. */
  readonly doubles: number
}

/** Returns the command of the service for the soak tests, on these tables. */
export function programOn(databaseUrl: string, schema: string): FleetProgram {
  return {
    command: [process.execPath, '--conditions=@concordat/source', fileURLToPath(new URL('./service.ts', import.meta.url))],
    env: { ...compileCache, DATABASE_URL: databaseUrl, SCHEMA: schema }
  }
}

/** Runs a soak test of the service in a schema that is dropped afterwards. */
export async function soakPostgres(
  databaseUrl: string,
  schema: string,
  soak: Omit<CrashSoak, 'program' | 'request'>
): Promise<CrashReport & Counts> {
  const pool = new Pool({ connectionString: databaseUrl, max: 2 })
  pool.on('error', () => {})
  await makeTables(pool, schema)
  try {
    const report = await crashSoak({ ...soak, program: programOn(databaseUrl, schema), request: () => ({ path: '/orders' }) })
    const { rows } = await pool.query<Counts>(
      `SELECT (SELECT count(*)::int FROM ${schema}.orders) AS rows, (SELECT count(*)::int FROM ${schema}.events) AS events,
        (SELECT count(*)::int FROM (SELECT FROM ${schema}.orders GROUP BY client_key HAVING count(*) > 1) AS twice) AS doubles`
    )
    return { ...report, ...(rows[0] as Counts) }
  } finally {
    await pool.query(`DROP SCHEMA ${schema} CASCADE`)
    await pool.end()
  }
}
