// The table of locks in docs/operations.md, against the locks that PostgreSQL reports.
import { readFileSync } from 'node:fs'
import { type Migration, migrate } from '@concordat/postgres'
import { apiKeyMigrations } from '@concordat/postgres/api-keys'
import { auditTrailMigrations } from '@concordat/postgres/audit-trail'
import { fileMigrations } from '@concordat/postgres/files'
import { loginAttemptMigrations } from '@concordat/postgres/login-attempts'
import { rateLimitMigrations } from '@concordat/postgres/rate-limits'
import { refreshTokenMigrations } from '@concordat/postgres/refresh-tokens'
import { revocationMigrations } from '@concordat/postgres/revocations'
import { storeMigrations } from '@concordat/postgres/stores'
import { versionUsageMigrations } from '@concordat/postgres/version-usage'
import type { Pool } from 'pg'
import t from 'tap'
import { connect, freshSchema, onServer } from './database.ts'

const all = [
  ...auditTrailMigrations,
  ...fileMigrations,
  ...storeMigrations,
  ...apiKeyMigrations,
  ...loginAttemptMigrations,
  ...rateLimitMigrations,
  ...refreshTokenMigrations,
  ...revocationMigrations,
  ...versionUsageMigrations
]
// Reads and writes continue beside the weaker ones, which every statement takes.
const strong = ['ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock']
const page = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8')

/** Applies a step, and returns the strongest lock that it holds on each table that existed before. */
async function locksOf(pool: Pool, { component, version, statements }: Migration, schema: string) {
  const client = await pool.connect()
  await client.query('BEGIN')
  const { rows: before } = await client.query(`SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace = '${schema}'::regnamespace`)
  for (const sql of statements) await client.query(sql.replaceAll('{schema}', schema))
  const { rows } = await client.query(
    `SELECT relname AS table, array_agg(mode) AS modes FROM pg_locks JOIN pg_class ON pg_class.oid = relation
    WHERE pid = pg_backend_pid() AND relation = ANY ($1) AND mode = ANY ($2) GROUP BY 1 ORDER BY 1`,
    [before.map(({ oid }) => oid), strong]
  )
  await client.query('COMMIT')
  client.release()
  return rows.map(({ table, modes }) => {
    const strongest = strong.findLast((mode) => modes.includes(mode)) as string
    return `| ${component} ${version} | \`${table}\` | ${strongest
      .replace('Lock', '')
      .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
      .toUpperCase()} |`
  })
}

t.test('locks of the tables that exist only what the page for operators lists', onServer, async (t) => {
  const schema = freshSchema(t)
  const { pool, database } = connect(t)
  await migrate(database, [], { schema })
  const lines: string[] = []
  for (const migration of all) lines.push(...(await locksOf(pool, migration, schema)))
  const [, shown = ''] = page.split(/<!-- migration-locks:(?:start|end) -->/)
  t.strictSame(shown.trim().split('\n').slice(2), lines)
})
