import { type Catalog, isBound } from './catalog.ts'
import type { TenantFinding } from './finding.ts'
import { type Policy, policiesSql } from './policies.ts'
import { TenantCondition } from './tenant-condition.ts'

interface ReadTable {
  readonly name: string
  /** Whether row security binds the owner of the view. */
  readonly isBound: boolean
  readonly policies: readonly Policy[]
}

interface View {
  readonly name: string
  readonly kind: 'v' | 'm'
  readonly options: readonly string[] | null
  readonly definition: string
  /** Whether it reads one table, without groups, sets and limits. */
  readonly isSimple: boolean
  readonly isWritable: boolean
  /** Whether the server has `security_invoker`. */
  readonly hasInvoker: boolean
  readonly tables: readonly ReadTable[]
}

// A view reads tables, and tables of views that it reads.
const views = `, beneath AS (
  WITH RECURSIVE reads (view, relation) AS (
    SELECT DISTINCT r.ev_class, d.refobjid FROM pg_rewrite r
    JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> r.ev_class
  ), found (view, relation) AS (
    SELECT view, relation FROM reads
    UNION SELECT found.view, reads.relation FROM found JOIN reads ON reads.view = found.relation
  )
  SELECT * FROM found
)
SELECT json_build_object('name', v.name, 'kind', v.kind, 'options', v.options, 'definition', pg_get_viewdef(v.oid),
  'isSimple', pg_relation_is_updatable(v.oid, false) <> 0,
  'isWritable', has_table_privilege(v.oid, 'INSERT, UPDATE') OR has_any_column_privilege(v.oid, 'INSERT, UPDATE'),
  'hasInvoker', current_setting('server_version_num')::integer >= 150000,
  'tables', json_agg(json_build_object('name', t.name, 'policies', (${policiesSql('t.oid', 'v.owner')}),
    'isBound', ${isBound('o')})))
FROM relations v JOIN pg_roles o ON o.oid = v.owner JOIN beneath b ON b.view = v.oid
JOIN relations t ON t.oid = b.relation AND t.kind IN ('r', 'p') AND t.tenant IS NOT NULL
WHERE v.kind IN ('v', 'm') AND v.is_used GROUP BY v.name, v.kind, v.options, v.oid, v.owner ORDER BY v.name`

/** Finds views that read rows of all tenants. */
export async function findViews({ checked: { column, setting }, facts }: Catalog): Promise<TenantFinding[]> {
  const condition = new TenantCondition(column, setting)
  return (await facts<View>(views)).flatMap((view) => ofView(view, condition, column, setting))
}

function ofView(view: View, condition: TenantCondition, column: string, setting: string): TenantFinding[] {
  const { name, kind, options, definition, isSimple, isWritable, hasInvoker, tables } = view
  const where = `WHERE ${column} = (SELECT NULLIF(current_setting('${setting}', true), '')) WITH CHECK OPTION`
  if (kind === 'm') {
    const problem = `The materialized view ${name} has rows of all tenants, and cannot have policies.`
    return [{ name, problem, remedy: `Revoke all rights on it, and grant a view on it with the condition of the tenant: ${where}.` }]
  }
  const given = (option: RegExp) => options?.some((one) => option.test(one)) === true
  const open = tables.filter(({ isBound, policies }) => !isBound || policies.some(({ using }) => !condition.limits(using)))
  if (given(/^security_invoker=(?:true|on|yes|1)$/) || open.length === 0) return []
  if (!isSimple || !condition.limitsView(definition)) {
    const problem = `The view ${name} reads ${open.map((table) => table.name).join(', ')} as its owner, whom policies do not limit to the tenant.`
    const invoker = hasInvoker ? `Run ALTER VIEW ${name} SET (security_invoker = true), or` : 'Revoke all rights on it, and'
    return [{ name, problem, remedy: `${invoker} grant a view on one table ${where}.` }]
  }
  if (!isWritable || given(/^check_option=/)) return []
  const problem = `Through the view ${name}, rows of other tenants can be written.`
  return [{ name, problem, remedy: `Run ALTER VIEW ${name} SET (check_option = cascaded).` }]
}
