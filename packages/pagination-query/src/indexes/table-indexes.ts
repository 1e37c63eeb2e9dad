import { conjunctsOf, expressionOf, type IndexKey } from './table-scan.ts'

/** Where a catalogue can be read: a `pg` client or pool, PGlite, or a transaction of it. */
export interface Queryable {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
}

/** A key column of an index, with what decides what it can look up. */
export interface IndexColumn extends IndexKey {
  readonly notNull: boolean
  /** The operator class is the default one of the type, which compares as `ORDER BY` does. */
  readonly comparesByDefault: boolean
  /** Finds text by its beginning: by operator class or by collation. */
  readonly findsPrefixes: boolean
}

/** An index of a table as the catalogue has it. Only B-trees are ordered; the others are left out. Included columns too. */
export interface TableIndex {
  readonly name: string
  /** False while it is built, and after a build that failed: then it is kept up to date, but never read. */
  readonly valid: boolean
  readonly unique: boolean
  readonly columns: readonly IndexColumn[]
  /** The conditions of a partial index. */
  readonly predicate: readonly string[]
}

interface TextColumn {
  /** Undefined when it is the default of the database. */
  readonly collation: string | undefined
  /** It compares byte by byte, so that a plain index finds text by its beginning. */
  readonly bytewise: boolean
}

/** What the catalogue knows of a table. */
export interface Table {
  /** With the schema and quotes, as it is written in statements. Of a partition, the table that it is part of. */
  readonly name: string
  readonly schema: string
  readonly partitioned: boolean
  /** The columns of text, by their quoted name. */
  readonly texts: ReadonlyMap<string, TextColumn>
  readonly indexes: readonly TableIndex[]
}

interface CatalogueColumn extends Omit<IndexColumn, 'collation'> {
  readonly collation: string | null
}

interface CatalogueRow {
  readonly name: string
  readonly schema: string
  readonly partitioned: boolean
  readonly texts: readonly { readonly name: string; readonly collation: string | null; readonly bytewise: boolean }[] | null
  readonly indexes:
    | readonly (Omit<TableIndex, 'columns' | 'predicate'> & { columns: readonly CatalogueColumn[]; predicate: string | null })[]
    | null
}

/** Reads the indexes of a table. */
export async function readTable(database: Queryable, schema: string, table: string): Promise<Table> {
  const { rows } = await database.query(catalogue, [schema, table])
  const [row] = rows as { table: string }[]
  if (row === undefined) throw new Error(`The catalogue of the database has no table "${schema}"."${table}".`)
  const { texts, indexes, ...found } = JSON.parse(row.table) as CatalogueRow
  const known = new Map(
    (texts ?? []).map(({ name, collation, bytewise }) => [name, { collation: collation ?? undefined, bytewise }] as const)
  )
  return {
    ...found,
    texts: known,
    indexes: (indexes ?? []).map(({ columns, predicate, ...index }) => ({
      ...index,
      columns: columns.map((column) => ({
        ...column,
        expression: columnOf(expressionOf(column.expression), known),
        collation: column.collation ?? undefined
      })),
      predicate: conjunctsOf(predicate ?? '').map(({ text }) => text)
    }))
  }
}

/** A column of text, written as the column itself also where PostgreSQL prints the type that it is compared as. */
export function columnOf(expression: string, texts: Table['texts']): string {
  const [, column] = /^\(([^()]+)\)::text$/.exec(expression) ?? []
  return column !== undefined && texts.has(column) ? column : expression
}

// As text, so that type parsers of the caller don't matter. A definition by column number has neither collation nor direction.
const catalogue = `
SELECT json_build_object(
  'name', format('%I.%I', n.nspname, c.relname),
  'schema', format('%I', n.nspname),
  'partitioned', c.relkind = 'p',
  'texts', (
    SELECT json_agg(json_build_object(
      'name', quote_ident(a.attname),
      'collation', CASE WHEN l.collname <> 'default' THEN l.collname END,
      'bytewise', CASE l.collname WHEN 'default' THEN d.datcollate WHEN 'ucs_basic' THEN 'C' ELSE l.collcollate END IN ('C', 'POSIX')))
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_collation l ON l.oid = a.attcollation
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      AND coalesce(nullif(t.typbasetype, 0), t.oid) IN ('text'::regtype, 'varchar'::regtype)),
  'indexes', (
    SELECT json_agg(json_build_object(
      'name', format('%I', i.relname),
      'valid', x.indisvalid AND x.indisready,
      'unique', x.indisunique AND x.indimmediate,
      'predicate', pg_get_expr(x.indpred, x.indrelid),
      'columns', (
        SELECT json_agg(json_build_object(
          'expression', pg_get_indexdef(x.indexrelid, k, false),
          'collation', CASE WHEN a.attcollation <> t.typcollation THEN l.collname END,
          'descending', x.indoption[k - 1] & 1 = 1,
          'nullsFirst', x.indoption[k - 1] & 2 = 2,
          'notNull', coalesce(o.attnotnull, false),
          'comparesByDefault', p.opcdefault,
          'findsPrefixes', p.opcname LIKE '%\\_pattern\\_ops'
            OR CASE l.collname WHEN 'default' THEN d.datcollate WHEN 'ucs_basic' THEN 'C' ELSE l.collcollate END IN ('C', 'POSIX')) ORDER BY k)
        FROM generate_series(1, x.indnkeyatts) k
        JOIN pg_attribute a ON a.attrelid = x.indexrelid AND a.attnum = k
        JOIN pg_type t ON t.oid = a.atttypid
        JOIN pg_opclass p ON p.oid = x.indclass[k - 1]
        LEFT JOIN pg_collation l ON l.oid = a.attcollation
        LEFT JOIN pg_attribute o ON o.attrelid = x.indrelid AND o.attnum = x.indkey[k - 1] AND o.attnum <> 0)
    ) ORDER BY i.relname)
    FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_am m ON m.oid = i.relam
    WHERE x.indrelid = c.oid AND m.amname = 'btree')
)::text AS "table"
FROM pg_class child
JOIN pg_namespace childs ON childs.oid = child.relnamespace
JOIN pg_class c ON c.oid = coalesce(pg_partition_root(child.oid), child.oid)
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_database d ON d.datname = current_database()
WHERE (childs.nspname = $1 OR $1 = 'pg_temp' AND childs.oid = pg_my_temp_schema()) AND child.relname = $2`
