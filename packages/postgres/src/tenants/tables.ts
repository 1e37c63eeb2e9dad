import type { Catalog } from './catalog.ts'
import type { TenantFinding } from './finding.ts'

interface Table {
  readonly name: string
  readonly kind: string
  readonly isShared: boolean
  readonly isPartition: boolean
  readonly hasTenant: boolean
  readonly isRequired: boolean | null
  readonly isUsed: boolean
  readonly isSecured: boolean
  /** Whether policies would bind the role if row security is on. */
  readonly isBound: boolean
}

/** Finds tables without a tenant, and tables and partitions without row security. */
export async function findTables({ checked, facts }: Catalog): Promise<TenantFinding[]> {
  const { column, schemas } = checked
  const tables = await facts<Table>(`
    SELECT json_build_object('name', name, 'kind', kind, 'isShared', is_shared, 'isPartition', is_partition, 'hasTenant', has_column,
      'isRequired', is_required, 'isUsed', is_used, 'isSecured', is_secured,
      'isBound', row_security_active(relations.oid) OR rolsuper OR rolbypassrls)
    FROM relations, pg_roles WHERE rolname = current_user AND kind IN ('r', 'p', 'f') ORDER BY name`)
  const unknown = await facts<string>(
    `SELECT to_json(s.name) FROM given, unnest(shared) s (name) WHERE NOT EXISTS (SELECT FROM relations WHERE relname = s.name OR name = s.name)`
  )
  return [
    ...(tables.length > 0
      ? []
      : [
          {
            name: schemas.join(),
            problem: `The schemas ${schemas.join(', ')} have no tables.`,
            remedy: 'Run the migrations first, or correct schemas.'
          }
        ]),
    ...unknown.map((name) => ({ name, problem: `shared has "${name}", which is not a table of the schemas.`, remedy: 'Remove it.' })),
    ...tables.flatMap((table) =>
      table.isShared ? ofShared(table, column) : table.hasTenant ? ofTenant(table, column) : [withoutTenant(table, column)]
    )
  ]
}

function ofShared({ name, hasTenant }: Table, column: string) {
  const problem = `The table ${name} is in shared, but has the column ${column}.`
  return hasTenant ? [{ name, problem, remedy: 'Remove it from shared.' }] : []
}

function withoutTenant({ name }: Table, column: string) {
  const problem = `The table ${name} has no column ${column}.`
  return { name, problem, remedy: 'Add the column, or list the table in shared if all tenants may see its rows.' }
}

function ofTenant(table: Table, column: string) {
  const { name, kind, isRequired, isUsed } = table
  if (kind === 'f') {
    const problem = `The foreign table ${name} cannot have policies.`
    return isUsed ? [{ name, problem, remedy: 'Revoke all rights on it, and grant a view with the condition of the tenant.' }] : []
  }
  const nullable = {
    name,
    problem: `The column ${column} of ${name} can be null, and foreign keys with a null are not checked.`,
    remedy: `Run ALTER TABLE ${name} ALTER ${column} SET NOT NULL.`
  }
  return [...(isRequired ? [] : [nullable]), ...(isUsed ? withoutSecurity(table) : [])]
}

function withoutSecurity({ name, isPartition, isSecured, isBound }: Table): TenantFinding[] {
  const enable = `Run ALTER TABLE ${name} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY.`
  if (isSecured && isBound) return []
  // Without a policy, a partition is readable through its table only.
  if (isPartition)
    return [{ name, problem: `The partition ${name} can be read directly, without the policies of its table.`, remedy: enable }]
  if (!isSecured) return [{ name, problem: `The table ${name} has no row level security.`, remedy: enable }]
  const problem = `The role owns the table ${name} or is a member of its owner, whom policies do not bind.`
  return [{ name, problem, remedy: `Run ALTER TABLE ${name} FORCE ROW LEVEL SECURITY.` }]
}
