import { readdir, readFile } from 'node:fs/promises'
import type { Database } from './database.ts'
import { inTransaction } from './queries.ts'

const folder = new URL('migrations/', import.meta.url)

/**
 * Applies the numbered .sql files that are not yet applied to this database, in order, all or none.
 * A second process waits, and then has nothing left to apply. The statements of a released file never change.
 */
export async function applyMigrations({ postgres }: Pick<Database, 'postgres'>): Promise<void> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  await inTransaction(postgres, async (transaction) => {
    await transaction.query(`SELECT pg_advisory_xact_lock(hashtext('orders-service migrations'))`)
    await transaction.query(
      'CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY, applied_at timestamptz(3) NOT NULL DEFAULT now())'
    )
    const applied = new Set((await transaction.query<{ name: string }>('SELECT name FROM migrations')).map(({ name }) => name))
    for (const file of files.filter((name) => !applied.has(name))) {
      for (const statement of statementsOf(await readFile(new URL(file, folder), 'utf8'))) await transaction.query(statement)
      await transaction.query('INSERT INTO migrations (name) VALUES ($1)', [file])
    }
  })
}

// A statement ends with a semicolon at the end of a line. PGlite accepts one statement at a time.
function statementsOf(script: string) {
  return script.split(/;\s*$/m).filter((statement) => statement.trim() !== '')
}
