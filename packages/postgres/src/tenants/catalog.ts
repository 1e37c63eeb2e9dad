import { type Postgres, parseRows } from '../connections/postgres.ts'
import type { Session } from '../connections/session.ts'

/** What is checked. */
export interface Checked {
  readonly schemas: readonly string[]
  /** The column that contains the tenant. */
  readonly column: string
  /** The tables without a tenant. */
  readonly shared: readonly string[]
  /** The setting in which policies find the tenant. */
  readonly setting: string
}

/** The system catalogs, as the role of the service reads them. */
export interface Catalog {
  readonly checked: Checked
  /** Runs a statement whose rows have a single column of type `json`. It can read the relations to check from `relations`. */
  readonly facts: <Fact>(select: string) => Promise<Fact[]>
}

/**
 * The tables and views of the schemas. `tenant` is the number of the column of the tenant, null in shared tables. `is_used`: whether the role has any right on the rows.
 * Objects of extensions are left out.
 */
const relations = `
WITH given AS MATERIALIZED (
  SELECT ARRAY(SELECT jsonb_array_elements_text($1::text::jsonb)) AS schemas, $2::text AS tenant, ARRAY(SELECT jsonb_array_elements_text($3::text::jsonb)) AS shared
), relations AS MATERIALIZED (
  SELECT c.oid, c.oid::regclass::text AS name, c.relname, c.relkind AS kind, c.relowner AS owner, c.relispartition AS is_partition,
    c.relrowsecurity AS is_secured, c.relforcerowsecurity AS is_forced, CASE WHEN NOT s.is_shared THEN a.attnum END AS tenant, a.attnotnull AS is_required, c.reloptions AS options,
    a.attnum IS NOT NULL AS has_column, s.is_shared,
    pg_has_role(current_user, c.relowner, 'USAGE') AS is_owned,
    has_table_privilege(c.oid, 'SELECT, INSERT, UPDATE, DELETE') OR has_any_column_privilege(c.oid, 'SELECT, INSERT, UPDATE') AS is_used
  FROM given CROSS JOIN pg_class c
  CROSS JOIN LATERAL (SELECT c.relname = ANY (shared) OR c.oid::regclass::text = ANY (shared) AS is_shared) s
  JOIN pg_namespace n ON n.oid = c.relnamespace
  LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = given.tenant AND NOT a.attisdropped
  WHERE n.nspname = ANY (schemas) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
)`

/** Returns a SQL expression that is true for a policy `p` that permits rows to a role. */
export function permits(role: string): string {
  return `p.polpermissive AND EXISTS (SELECT FROM unnest(p.polroles) r (id) WHERE CASE r.id WHEN 0 THEN true ELSE pg_has_role(${role}, r.id, 'USAGE') END)`
}

/** Returns a SQL expression that is true if row security binds a role, a row of `pg_roles`, in a table `t`. */
export function isBound(role: string): string {
  return `t.is_secured AND NOT ${role}.rolsuper AND NOT ${role}.rolbypassrls AND (t.is_forced OR NOT pg_has_role(${role}.oid, t.owner, 'USAGE'))`
}

/** Runs the work in a read-only transaction, in which all its statements see one state. */
export async function withCatalog<Result>(
  database: Postgres,
  checked: Checked,
  work: (catalog: Catalog) => Promise<Result>
): Promise<Result> {
  const { session } = await database.open({ isolation: 'repeatable read', readOnly: true })
  try {
    return await work({ checked, facts: (select) => factsOf(session, checked, select) })
  } finally {
    await session.rollback()
  }
}

async function factsOf<Fact>(session: Session, { schemas, column, shared }: Checked, select: string) {
  // Lists and facts are texts, whose form no driver changes.
  const text = `SELECT facts.json::text AS json FROM (${relations} ${select}) AS facts (json)`
  const { rows } = await session.query(text, [JSON.stringify(schemas), column, JSON.stringify(shared)])
  return parseRows<Fact>(rows)
}
