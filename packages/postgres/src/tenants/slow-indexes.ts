import type { Catalog } from './catalog.ts'
import type { TenantFinding } from './finding.ts'

interface Index {
  readonly name: string
  readonly table: string
  readonly columns: string
  /** Whether it is a B-tree whose first column is not the tenant, although its columns do not have to be unique across tenants. */
  readonly isOrderOfAll: boolean
  /** The columns with an operator that policies keep from indexes, and their types. */
  readonly leaky: readonly { readonly column: string; readonly type: string }[]
}

// An operator that could show its arguments in an error or a message is applied to the rows that a policy permits only, so that no index can apply it.
const indexes = `
SELECT json_build_object('name', i.relname, 'table', t.name,
  'columns', (SELECT string_agg(pg_get_indexdef(x.indexrelid, n, false), ', ' ORDER BY n) FROM generate_series(1, x.indnkeyatts) n),
  'isOrderOfAll', m.amname = 'btree' AND x.indkey[0] <> t.tenant AND (NOT (x.indisunique OR x.indisexclusion) OR t.tenant = ANY (x.indkey::smallint[])),
  'leaky', coalesce((SELECT json_agg(json_build_object('column', pg_get_indexdef(x.indexrelid, n, false), 'type', format_type(a.atttypid, NULL)) ORDER BY n)
    FROM generate_series(1, x.indnkeyatts) n
    JOIN pg_attribute a ON a.attrelid = x.indexrelid AND a.attnum = n
    JOIN pg_opclass c ON c.oid = x.indclass[n - 1]
    WHERE t.is_secured AND t.is_used AND EXISTS (
      SELECT FROM pg_amop o JOIN pg_operator p ON p.oid = o.amopopr JOIN pg_proc f ON f.oid = p.oprcode
      WHERE o.amopfamily = c.opcfamily AND o.amoplefttype = c.opcintype AND o.amoprighttype = c.opcintype AND o.amoppurpose = 's' AND NOT f.proleakproof)
  ), '[]'))
FROM relations t JOIN pg_index x ON x.indrelid = t.oid JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_am m ON m.oid = i.relam
WHERE t.tenant IS NOT NULL AND NOT t.is_partition ORDER BY t.name, i.relname`

/** Finds indexes that do not serve the requests of a tenant. */
export async function findSlowIndexes({ checked: { column }, facts }: Catalog): Promise<TenantFinding[]> {
  return (await facts<Index>(indexes)).flatMap(({ name, table, columns, isOrderOfAll, leaky }) => [
    ...(isOrderOfAll
      ? [
          {
            name,
            problem: `The index ${name} of ${table} does not begin with ${column}: a page in its order reads the rows of all tenants.`,
            remedy: `Create it on (${[column, ...columns.split(', ').filter((one) => one !== column)].join(', ')}).`
          }
        ]
      : []),
    ...leaky.map(({ column: of, type }) => ({
      name,
      problem: `The index ${name} of ${table} finds no rows by ${of} under a policy, because operators of ${type} are not leakproof.`,
      remedy: remedyOf(type)
    }))
  ])
}

const view =
  "grant a view of the owner with the condition of the tenant in place of the table (docs/tenants.md, 'Operators that are not leakproof')"

function remedyOf(type: string) {
  if (type === 'numeric') return `Index a generated column, such as a bigint of the smallest unit, or ${view}.`
  return `Use a column of another type, such as text with a CHECK for an enum, or ${view}.`
}
