import { hash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { type Postgres, type StoreOptions, schemaOf } from '../connections/postgres.ts'
import type { Session } from '../connections/session.ts'
import type { Migration } from './migration.ts'
import { schemaIfMissing, withoutRights } from './missing-schema.ts'

const lockNotAvailable = '55P03'
// A statement that waits for a lock makes all later statements on that table wait too.
const lockTimeoutMs = 2000
const pauseMs = 1000
const maxAttempts = 100

interface Applied {
  readonly component: string
  readonly version: number
  readonly checksum: string
}

/**
 * Creates the schema and applies the migrations that are new to this database, all or none: components in the order of the list, their steps in that of
 * their versions. Of several processes, one applies them while the others wait. A role without the right to create anything can call it when
 * nothing is missing. Rejects when an applied step has changed since, or when tables stay locked for about five minutes.
 */
export async function migrate(database: Postgres, migrations: readonly Migration[], options: StoreOptions = {}): Promise<void> {
  const schema = schemaOf(options)
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await migrateOnce(database, migrations, schema)
    } catch (error) {
      if ((error as { readonly code?: unknown }).code !== lockNotAvailable)
        throw withoutRights(error, `postgres: the schema ${schema} cannot be migrated`)
      if (attempt === maxAttempts)
        throw new Error(
          `postgres: the migrations of the schema ${schema} could not lock a table in ${maxAttempts} attempts. End the long transactions, then start again.`,
          { cause: error }
        )
      await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + Math.random())))
    }
  }
}

/** Reads the migrations of a service from the `.sql` files of a folder: `0001-orders.sql` is version 1. `component` names the service. */
export async function readMigrations(folder: URL | string, component: string): Promise<Migration[]> {
  const base = typeof folder === 'string' ? pathToFileURL(`${folder}/`) : folder
  const files = (await readdir(base)).filter((name) => name.endsWith('.sql')).sort()
  const migrations: Migration[] = []
  for (const file of files) {
    const version = Number.parseInt(file)
    if (!(version > 0))
      throw new Error(
        `postgres: the name of the migration ${file} must begin with a number. Rename it to 0001-${file}, with the next number.`
      )
    if (migrations.some((other) => other.version === version)) {
      throw new Error(`postgres: the migration ${file} has the same number as another file. Rename it with the next number.`)
    }
    migrations.push({ component, version, statements: [await readFile(new URL(file, base), 'utf8')] })
  }
  return migrations
}

async function migrateOnce(database: Postgres, migrations: readonly Migration[], schema: string) {
  const read = `SELECT json_build_object('component', component, 'version', version, 'checksum', checksum)::text AS json FROM ${schema}.migrations`
  // The timeout begins after the other processes have finished their migrations, for which this one waits.
  const creation = schemaIfMissing(schema, `IF to_regclass('${schema}.migrations') IS NULL THEN ${tableOf(schema)}; END IF;`)
  const statements = [lockOf(schema), creation, `SET LOCAL lock_timeout = ${lockTimeoutMs}`, read]
  const { session, results } = await database.open({ statements })
  try {
    const applied = (results.at(-1) ?? []).map(([json]) => JSON.parse(String(json)) as Applied)
    for (const migration of inOrder(migrations)) await apply(session, schema, migration, applied)
    await session.commit()
  } catch (error) {
    await session.rollback()
    throw error
  }
}

/** Returns what {@link migrate} executes in an empty database as SQL, for a migration tool of your own. For an update, pass only the new steps. */
export function migrationSql(migrations: readonly Migration[], options: StoreOptions = {}): string {
  const schema = schemaOf(options)
  const steps = inOrder(migrations).map((migration) => {
    const { component, version } = migration
    const record = `INSERT INTO ${schema}.migrations (component, version, checksum) VALUES ('${component.replaceAll("'", "''")}', ${version}, '${checksumOf(migration)}')`
    return [`-- ${component} ${version}`, ...[...sqlOf(migration, schema), record].map(terminated)].join('\n')
  })
  const creation = [`CREATE SCHEMA IF NOT EXISTS ${schema}`, tableOf(schema)].map(terminated).join('\n')
  return `${[creation, ...steps].join('\n\n')}\n`
}

function lockOf(schema: string) {
  return `SELECT pg_advisory_xact_lock(hashtext('concordat migrations'), hashtext('${schema}'))`
}

function tableOf(schema: string) {
  return `CREATE TABLE IF NOT EXISTS ${schema}.migrations (
  component text NOT NULL,
  version integer NOT NULL,
  checksum text NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (component, version)
)`
}

// Tables of a component may reference those of a component that is before it in the list.
function inOrder(migrations: readonly Migration[]) {
  const components = [...new Set(migrations.map(({ component }) => component))]
  return migrations.toSorted((a, b) => components.indexOf(a.component) - components.indexOf(b.component) || a.version - b.version)
}

async function apply(session: Session, schema: string, migration: Migration, applied: readonly Applied[]) {
  const { component, version } = migration
  const name = `${component} ${version}`
  const checksum = checksumOf(migration)
  const ours = applied.filter((step) => step.component === component)
  const known = ours.find((step) => step.version === version)
  if (known !== undefined) {
    if (known.checksum === checksum) return
    throw new Error(
      `postgres: the statements of migration ${name} differ from those that were applied to the schema ${schema}. Install the release that applied them.`
    )
  }
  if (ours.some((step) => step.version > version)) {
    throw new Error(
      `postgres: migration ${name} is missing from the schema ${schema}, although a later migration was applied. Restore the schema from a backup.`
    )
  }
  // Each element is a message of its own, because it can contain several statements.
  for (const sql of sqlOf(migration, schema)) await session.send([sql])
  await session.query(`INSERT INTO ${schema}.migrations (component, version, checksum) VALUES ($1, $2, $3)`, [component, version, checksum])
}

function checksumOf({ statements }: Migration) {
  return hash('sha256', JSON.stringify(statements))
}

function sqlOf({ statements }: Migration, schema: string) {
  return statements.map((statement) => statement.replaceAll('{schema}', schema))
}

// A semicolon in a comment would not end the statement.
function terminated(sql: string) {
  const text = sql.trim()
  return text.endsWith(';') ? text : `${text}${/--.*$/.test(text) ? '\n' : ''};`
}
