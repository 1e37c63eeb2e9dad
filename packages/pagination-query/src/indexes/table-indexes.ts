import { conjunctsOf, expressionOf, type IndexKey } from './table-scan.ts'

/** A client that can query the system catalogs of PostgreSQL: a `pg` client or pool, PGlite, or a transaction of PGlite. */
export interface Queryable {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
}

/** A key column of an index, with the properties that determine which lookups it supports. */
export interface IndexColumn extends IndexKey {
  readonly notNull: boolean
  /** Whether the operator class is the default of the type, which compares like `ORDER BY`. */
  readonly comparesByDefault: boolean
  /** Whether the column supports prefix searches, because of its operator class or its collation. */
  readonly findsPrefixes: boolean
}

/** An index of a table, without included columns. Only a B-tree has columns, because other indexes have no order. */
export interface TableIndex {
  readonly name: string
  /** `false` during the build and after a failed build, when PostgreSQL updates the index but never reads it. */
  readonly valid: boolean
  readonly unique: boolean
  readonly columns: readonly IndexColumn[]
  /** The expressions in which it finds texts, as an index of trigrams. */
  readonly texts: readonly string[]
  /** The conditions of a partial index. */
  readonly predicate: readonly string[]
}

interface TableColumn {
  /** The types to which PostgreSQL casts the column without a conversion when it prints a comparison. */
  readonly casts: readonly string[]
  /** The collation; undefined for the default of the database. */
  readonly collation: string | undefined
  /** Whether text in the column is compared byte by byte, so that an ordinary index supports prefix searches. */
  readonly bytewise: boolean
  /** Whether ILIKE ignores the case of all letters, and all of them form trigrams. */
  readonly foldsCase: boolean
  /** The operator class that supports prefix searches in any collation; undefined if no index supports them. */
  readonly patternOps: string | undefined
}

/** A table as the system catalogs of PostgreSQL describe it. */
export interface Table {
  /** The quoted and schema-qualified name of the table, for use in statements. For a partition, the name of the partitioned table. */
  readonly name: string
  readonly schema: string
  readonly partitioned: boolean
  /** The columns of text, and those whose type is a domain, by quoted name. */
  readonly columns: ReadonlyMap<string, TableColumn>
  readonly indexes: readonly TableIndex[]
}

interface CatalogueRow extends Pick<Table, 'name' | 'schema' | 'partitioned'> {
  readonly columns?: readonly (TableColumn & { readonly name: string })[]
  readonly indexes?: readonly (Pick<TableIndex, 'name' | 'valid' | 'unique'> &
    Partial<Pick<TableIndex, 'columns' | 'texts'>> & { readonly predicate?: string })[]
}

/** Returns a table with its indexes. */
export async function readTable(database: Queryable, schema: string, table: string): Promise<Table> {
  const { rows } = await database.query(catalogue, [schema, table])
  const [row] = rows as { table: string }[]
  if (row === undefined)
    throw new Error(`pagination-query: the database does not have the table "${schema}"."${table}". Run the migrations first.`)
  const { columns = [], indexes = [], ...found } = JSON.parse(row.table) as CatalogueRow
  const known = new Map(columns.map(({ name, ...column }) => [name, column]))
  return {
    ...found,
    columns: known,
    indexes: indexes.map((index) => ({
      ...index,
      columns: (index.columns ?? []).map((column) => ({ ...column, expression: columnOf(expressionOf(column.expression), known) })),
      texts: (index.texts ?? []).map((text) => columnOf(expressionOf(text), known)),
      predicate: conjunctsOf(index.predicate ?? '').map(({ text }) => text)
    }))
  }
}

/** Returns the column name if the expression is a column that PostgreSQL prints with a cast; otherwise returns the expression unchanged. */
export function columnOf(expression: string, columns: Table['columns']): string {
  const [, column = '', type = ''] = /^\(([^()]+)\)::(.+)$/.exec(expression) ?? []
  return columns.get(column)?.casts.includes(type) === true ? column : expression
}

// The result is text, so that type parsers of the caller have no effect, and without nulls, which are undefined here. pg_get_indexdef with a column number returns neither the
// collation nor the direction.
const catalogue = `
SELECT json_strip_nulls(json_build_object(
  'name', format('%I.%I', n.nspname, c.relname),
  'schema', format('%I', n.nspname),
  'partitioned', c.relkind = 'p',
  'columns', (
    SELECT json_agg(json_build_object(
      'name', quote_ident(a.attname),
      'casts', ARRAY(SELECT b.oid::regtype::text UNION
        SELECT casttarget::regtype::text FROM pg_cast WHERE castsource = b.oid AND casttarget = 'text'::regtype AND castmethod = 'b'),
      'patternOps', CASE b.oid WHEN 'text'::regtype THEN 'text_pattern_ops' WHEN 'varchar'::regtype THEN 'text_pattern_ops'
        WHEN 'bpchar'::regtype THEN 'bpchar_pattern_ops' END,
      'collation', CASE WHEN l.collname <> 'default' THEN l.collname END,
      'foldsCase', coalesce(l.collisdeterministic, true) AND d.datctype NOT IN ('C', 'POSIX')
        AND coalesce(CASE l.collname WHEN 'default' THEN '' WHEN 'ucs_basic' THEN 'C' ELSE coalesce(l.collctype, to_jsonb(l)->>'colllocale') END, '') NOT IN ('C', 'POSIX'),
      'bytewise', b.oid IN ('text'::regtype, 'varchar'::regtype, 'bpchar'::regtype)
        AND coalesce(CASE l.collname WHEN 'default' THEN d.datcollate WHEN 'ucs_basic' THEN 'C' ELSE l.collcollate END, '') IN ('C', 'POSIX')))
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid JOIN pg_type b ON b.oid = coalesce(nullif(t.typbasetype, 0), t.oid)
    LEFT JOIN pg_collation l ON l.oid = a.attcollation
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND (b.typcategory = 'S' OR t.typtype = 'd')),
  'indexes', (
    SELECT json_agg(json_build_object(
      'name', format('%I', i.relname),
      'valid', x.indisvalid AND x.indisready,
      'unique', x.indisunique AND x.indimmediate,
      'predicate', pg_get_expr(x.indpred, x.indrelid),
      'texts', (
        SELECT json_agg(pg_get_indexdef(x.indexrelid, k, false)) FROM generate_series(1, x.indnkeyatts) k
        JOIN pg_opclass p ON p.oid = x.indclass[k - 1]
        WHERE p.opcname = 'gin_trgm_ops' OR p.opcname = 'gist_trgm_ops' AND k = 1),
      'columns', CASE m.amname WHEN 'btree' THEN (
        SELECT json_agg(json_build_object(
          'expression', pg_get_indexdef(x.indexrelid, k, false),
          'collation', CASE WHEN a.attcollation <> t.typcollation THEN l.collname END,
          'descending', x.indoption[k - 1] & 1 = 1,
          'nullsFirst', x.indoption[k - 1] & 2 = 2,
          'notNull', coalesce(o.attnotnull, false),
          'comparesByDefault', p.opcdefault,
          'findsPrefixes', p.opcintype IN ('text'::regtype, 'bpchar'::regtype) AND (p.opcname LIKE '%\\_pattern\\_ops'
            OR CASE l.collname WHEN 'default' THEN d.datcollate WHEN 'ucs_basic' THEN 'C' ELSE l.collcollate END IN ('C', 'POSIX'))) ORDER BY k)
        FROM generate_series(1, x.indnkeyatts) k
        JOIN pg_attribute a ON a.attrelid = x.indexrelid AND a.attnum = k
        JOIN pg_type t ON t.oid = a.atttypid
        JOIN pg_opclass p ON p.oid = x.indclass[k - 1]
        LEFT JOIN pg_collation l ON l.oid = a.attcollation
        LEFT JOIN pg_attribute o ON o.attrelid = x.indrelid AND o.attnum = x.indkey[k - 1] AND o.attnum <> 0) END
    ) ORDER BY i.relname)
    FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_am m ON m.oid = i.relam
    WHERE x.indrelid = c.oid AND m.amname IN ('btree', 'gin', 'gist'))
))::text AS "table"
FROM pg_class child
JOIN pg_namespace childs ON childs.oid = child.relnamespace
JOIN pg_class c ON c.oid = coalesce(pg_partition_root(child.oid), child.oid)
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_database d ON d.datname = current_database()
WHERE (childs.nspname = $1 OR $1 = 'pg_temp' AND childs.oid = pg_my_temp_schema()) AND child.relname = $2`
