import { hash } from 'node:crypto'
import { type Postgres, type Queries, requireSchema, type StoreOptions } from './postgres.ts'

/** One step in the schema of a store. A released step never changes: each later change is a new step. */
export interface Migration {
  /** The component that owns the tables, for example `refresh-tokens`. */
  readonly component: string
  /** Counts from 1 in each component. */
  readonly version: number
  /** The SQL, one statement for each element. `{schema}` is replaced by the name of the schema. */
  readonly statements: readonly string[]
}

interface Applied {
  readonly component: string
  readonly version: number
  readonly checksum: string
}

/**
 * Creates the schema and applies the migrations that are new to this database, in the order of their versions, all or none. When several
 * processes start at the same time, one applies them while the others wait and then have nothing left to do. Steps applied by a newer
 * release are left as they are, so that the release before it continues to work. Rejects when an applied step has changed since, or when a
 * step before it is missing.
 */
export async function migrate(
  database: Postgres,
  migrations: readonly Migration[],
  { schema = 'concordat' }: StoreOptions = {}
): Promise<void> {
  requireSchema(schema)
  await database.transaction(async (queries) => {
    await lock(queries, schema)
    await queries.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`)
    await queries.query(`CREATE TABLE IF NOT EXISTS ${schema}.migrations (
      component text NOT NULL,
      version integer NOT NULL,
      checksum text NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (component, version)
    )`)
    const applied = await queries.query<Applied>(
      `SELECT json_build_object('component', component, 'version', version, 'checksum', checksum)::text AS json FROM ${schema}.migrations`
    )
    for (const migration of migrations.toSorted((a, b) => a.component.localeCompare(b.component) || a.version - b.version)) {
      await apply(queries, schema, migration, applied)
    }
  })
}

async function lock(queries: Queries, schema: string) {
  await queries.query(`SELECT '1' AS json FROM pg_advisory_xact_lock(hashtext('concordat migrations'), hashtext($1))`, [schema])
}

async function apply(queries: Queries, schema: string, { component, version, statements }: Migration, applied: readonly Applied[]) {
  const name = `${component} ${version}`
  const checksum = hash('sha256', JSON.stringify(statements))
  const ours = applied.filter((step) => step.component === component)
  const known = ours.find((step) => step.version === version)
  if (known !== undefined) {
    if (known.checksum === checksum) return
    throw new Error(
      `postgres: migration ${name} was applied to the schema ${schema} with other statements. Install the release that applied it.`
    )
  }
  if (ours.some((step) => step.version > version)) {
    throw new Error(`postgres: migration ${name} was never applied to the schema ${schema}, but a later one was. Restore the schema.`)
  }
  for (const statement of statements) await queries.query(statement.replaceAll('{schema}', schema))
  await queries.query(`INSERT INTO ${schema}.migrations (component, version, checksum) VALUES ($1, $2, $3)`, [component, version, checksum])
}
