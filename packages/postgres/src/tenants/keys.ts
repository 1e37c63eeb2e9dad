import type { Catalog } from './catalog.ts'
import type { TenantFinding } from './finding.ts'

interface ForeignKey {
  readonly name: string
  readonly table: string
  readonly target: string
  readonly cascades: boolean
  readonly hasTenants: boolean
  readonly columns: string
  readonly targetColumns: string
}

interface UniqueKey {
  readonly name: string
  readonly table: string
  readonly columns: string
}

// PostgreSQL checks keys without policies. Those of a partition belong to its table.
const foreignKeys = `
SELECT json_build_object('name', k.conname, 'table', t.name, 'target', target.name, 'cascades', k.confdeltype IN ('c', 'n', 'd') OR k.confupdtype = 'c',
  'hasTenants', t.tenant IS NOT NULL,
  'columns', (SELECT string_agg(quote_ident(attname), ', ' ORDER BY n.position) FROM unnest(k.conkey) WITH ORDINALITY n (number, position)
    JOIN pg_attribute ON attrelid = k.conrelid AND attnum = n.number),
  'targetColumns', (SELECT string_agg(quote_ident(attname), ', ' ORDER BY n.position) FROM unnest(k.confkey) WITH ORDINALITY n (number, position)
    JOIN pg_attribute ON attrelid = k.confrelid AND attnum = n.number))
FROM pg_constraint k JOIN relations t ON t.oid = k.conrelid JOIN relations target ON target.oid = k.confrelid
WHERE k.contype = 'f' AND k.conparentid = 0 AND target.tenant IS NOT NULL AND NOT EXISTS (
  SELECT FROM unnest(k.conkey, k.confkey) pair (own, others) WHERE pair.own = t.tenant AND pair.others = target.tenant)
ORDER BY t.name, k.conname`

const uniqueKeys = `
SELECT json_build_object('name', i.relname, 'table', t.name, 'columns', (
  SELECT string_agg(pg_get_indexdef(x.indexrelid, n, false), ', ' ORDER BY n) FROM generate_series(1, x.indnkeyatts) n))
FROM relations t JOIN pg_index x ON x.indrelid = t.oid JOIN pg_class i ON i.oid = x.indexrelid
WHERE t.tenant IS NOT NULL AND NOT t.is_partition AND (x.indisunique OR x.indisexclusion)
  AND NOT EXISTS (SELECT FROM unnest(x.indkey::smallint[]) WITH ORDINALITY k (number, position) WHERE k.number = t.tenant AND k.position <= x.indnkeyatts)
ORDER BY t.name, i.relname`

/** Finds keys without the tenant, which cross tenants because PostgreSQL checks keys without policies. */
export async function findKeys({ checked: { column }, facts }: Catalog): Promise<TenantFinding[]> {
  const foreign = await facts<ForeignKey>(foreignKeys)
  const unique = await facts<UniqueKey>(uniqueKeys)
  return [
    ...foreign.map((key) => ofForeignKey(key, column)),
    ...unique.map(({ name, table, columns }) => ({
      name,
      problem: `The unique key ${name} of ${table} refuses the values of other tenants, which shows that they exist.`,
      remedy: `Make ${column}, ${columns} the key.`
    }))
  ]
}

function ofForeignKey({ name, table, target, cascades, hasTenants, columns, targetColumns }: ForeignKey, column: string): TenantFinding {
  if (!hasTenants) {
    const problem = `The foreign key ${name} of ${table} refers to ${target}, whose rows have a tenant.`
    return { name, problem, remedy: `Remove it, or add the column ${column} to ${table}.` }
  }
  const change = cascades ? ', so that a change of the one changes or deletes the other' : ''
  return {
    name,
    problem: `The foreign key ${name} lets a row of ${table} refer to a row of another tenant in ${target}${change}.`,
    remedy: `Replace it by FOREIGN KEY (${column}, ${columns}) REFERENCES ${target} (${column}, ${targetColumns}).`
  }
}
