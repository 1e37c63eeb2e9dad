import { type UnboundRole, unboundRole } from '../connections/tenant.ts'
import { type Catalog, isBound } from './catalog.ts'
import type { TenantFinding } from './finding.ts'

interface Truncation {
  readonly name: string
  readonly grantees: string
}

interface Definer {
  readonly name: string
  readonly owner: string
}

// A trigger runs its function without a check of the right to execute it. What the role may read anyway is found with the table.
const definers = `
SELECT json_build_object('name', f.oid::regprocedure::text, 'owner', o.rolname)
FROM pg_proc f JOIN pg_roles o ON o.oid = f.proowner JOIN pg_namespace n ON n.oid = f.pronamespace
WHERE f.prosecdef AND n.nspname NOT IN ('pg_catalog', 'information_schema')
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = f.oid AND d.deptype = 'e')
  AND (has_schema_privilege(n.oid, 'USAGE') AND has_function_privilege(f.oid, 'EXECUTE')
    OR EXISTS (SELECT FROM pg_trigger g JOIN relations r ON r.oid = g.tgrelid WHERE g.tgfoid = f.oid AND r.is_used))
  AND EXISTS (SELECT FROM relations t WHERE t.kind IN ('r', 'p') AND t.tenant IS NOT NULL AND NOT (${isBound('o')})
    AND (o.rolsuper OR o.rolbypassrls OR NOT t.is_owned))
ORDER BY 1::text`

/** Finds a role that policies do not bind, and rights that they do not limit. */
export async function findBypasses({ facts }: Catalog): Promise<TenantFinding[]> {
  const roles = await facts<UnboundRole>(unboundRole)
  const truncations = await facts<Truncation>(`
    SELECT json_build_object('name', name, 'grantees', (
      SELECT string_agg(CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE g.grantee::regrole::text END, ', ')
      FROM pg_class c, aclexplode(c.relacl) g WHERE c.oid = relations.oid AND g.privilege_type = 'TRUNCATE' AND g.grantee <> owner))
    FROM relations WHERE kind IN ('r', 'p') AND tenant IS NOT NULL AND NOT is_owned AND has_table_privilege(oid, 'TRUNCATE') ORDER BY name`)
  return [
    ...roles.map(({ name, isSuperuser }) => ({
      name,
      problem: `The role ${name} ${isSuperuser ? 'is a superuser' : 'has BYPASSRLS'}, and policies do not bind it.`,
      remedy: isSuperuser ? 'Connect as an ordinary role.' : `Run ALTER ROLE ${name} NOBYPASSRLS, or connect as another role.`
    })),
    ...(roles.length > 0 ? [] : await facts<Definer>(definers)).map(({ name, owner }) => ({
      name,
      problem: `The function ${name} runs with the rights of ${owner}, whom policies do not bind (SECURITY DEFINER).`,
      remedy: `Run ALTER ROUTINE ${name} SECURITY INVOKER, or waive it if it limits its rows to the tenant.`
    })),
    // A superuser may do everything.
    ...(roles.length > 0 ? [] : truncations).map(({ name, grantees }) => ({
      name,
      problem: `The role may TRUNCATE ${name}, which deletes the rows of all tenants.`,
      remedy: `Run REVOKE TRUNCATE ON ${name} FROM ${grantees}.`
    }))
  ]
}
