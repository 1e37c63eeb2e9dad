import { type Catalog, permits } from './catalog.ts'
import type { TenantFinding } from './finding.ts'
import { TenantCondition } from './tenant-condition.ts'

/** A permissive policy. */
export interface Policy {
  readonly name: string
  /** `*` for all commands. */
  readonly command: string
  readonly using: string | null
  readonly check: string | null
}

interface SecuredTable {
  readonly name: string
  readonly isPartition: boolean
  readonly isSecured: boolean
  readonly type: string
  readonly policies: readonly Policy[]
}

interface ImmutableCall {
  readonly name: string
  readonly table: string
  readonly function: string
}

/** Returns a SELECT of the permissive policies of a table for a role, as JSON. */
export function policiesSql(table: string, role: string): string {
  return `SELECT coalesce(json_agg(json_build_object('name', p.polname, 'command', p.polcmd, 'using', pg_get_expr(p.polqual, p.polrelid),
    'check', pg_get_expr(p.polwithcheck, p.polrelid)) ORDER BY p.polname), '[]') FROM pg_policy p WHERE p.polrelid = ${table} AND ${permits(role)}`
}

/** Finds tables whose policies do not limit rows to the tenant. */
export async function findPolicies({ checked: { column, setting }, facts }: Catalog): Promise<TenantFinding[]> {
  const tables = await facts<SecuredTable>(`
    SELECT json_build_object('name', name, 'isPartition', is_partition, 'isSecured', is_secured,
      'type', (SELECT format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = relations.oid AND attnum = tenant),
      'policies', (${policiesSql('relations.oid', 'current_user')}))
    FROM relations WHERE kind IN ('r', 'p') AND tenant IS NOT NULL AND is_used ORDER BY name`)
  const calls = await facts<ImmutableCall>(`
    SELECT json_build_object('name', p.polname, 'table', name, 'function', f.oid::regprocedure::text)
    FROM relations JOIN pg_policy p ON p.polrelid = relations.oid
    JOIN pg_depend d ON d.classid = 'pg_policy'::regclass AND d.objid = p.oid AND d.refclassid = 'pg_proc'::regclass
    JOIN pg_proc f ON f.oid = d.refobjid WHERE f.provolatile = 'i' AND is_used ORDER BY name, p.polname`)
  const condition = new TenantCondition(column, setting)
  return [
    ...tables.flatMap((table) => ofTable(table, condition, createPolicy(table, column, setting))),
    ...calls.map(({ name, table, function: called }) => ({
      name,
      problem: `The policy ${name} of ${table} calls ${called}, which is IMMUTABLE, so that a prepared statement keeps the tenant of its first use.`,
      remedy: `Run ALTER FUNCTION ${called} STABLE.`
    }))
  ]
}

function createPolicy({ name, type }: SecuredTable, column: string, setting: string) {
  const cast = type === 'text' ? '' : `::${type}`
  return `CREATE POLICY tenant ON ${name} USING (${column} = (SELECT NULLIF(current_setting('${setting}', true), '')${cast}))`
}

function ofTable(
  { name: table, isPartition, isSecured, policies }: SecuredTable,
  condition: TenantCondition,
  create: string
): TenantFinding[] {
  const names = policies.map(({ name }) => name)
  if (policies.length === 0) {
    // Without row security, that is the finding. A partition without a policy is readable through its table only.
    if (isPartition || !isSecured) return []
    return [{ name: table, problem: `No policy of ${table} permits any row to the role.`, remedy: `Run ${create}.` }]
  }
  const several = {
    name: table,
    problem: `The table ${table} has ${policies.length} permissive policies (${names.join(', ')}), and a row that one of them permits is visible.`,
    remedy: 'Keep one, and create the others AS RESTRICTIVE.'
  }
  return [...(policies.length > 1 ? [several] : []), ...policies.flatMap((policy) => ofPolicy(policy, table, condition, create))]
}

function ofPolicy({ name, command, using, check }: Policy, table: string, condition: TenantCondition, create: string): TenantFinding[] {
  const replace = `Replace it: ${create}.`
  if (command !== '*') return [{ name, problem: `The policy ${name} of ${table} is not for all commands.`, remedy: replace }]
  if (!condition.limits(using))
    return [{ name, problem: `The policy ${name} of ${table} does not limit rows to the tenant: ${using}.`, remedy: replace }]
  const problem = `The policy ${name} of ${table} permits new rows of other tenants: WITH CHECK ${check}.`
  return check === null || condition.limits(check) ? [] : [{ name, problem, remedy: `${replace.slice(0, -1)}, without WITH CHECK.` }]
}
