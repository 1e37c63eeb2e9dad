import { type SqlColumns, type SqlSource, sourceOptions } from '../declaration/sql-source.ts'
import type { ListQuery } from '../list/list-query.ts'
import type { Relation } from '../list/related.ts'
import { quoted, snakeCase } from './columns.ts'
import { numberedQuery, numberedSql } from './numbered-sql.ts'

/** The rows of a table that has been read. */
interface TableRows {
  /** The SQL after FROM. */
  readonly from: string
  readonly columns: SqlColumns
  readonly where: string | undefined
  readonly values: readonly unknown[]
}

/** A source that has been read. */
export interface RowSource extends TableRows {
  /** The rows of the relations by whose fields a query filters, by the name of the relation. */
  readonly related: ReadonlyMap<string, TableRows & { readonly relation: Relation }>
  /** The values of `from` and `where`, also of `related`, whose placeholders are the first ones of each statement. */
  readonly values: readonly unknown[]
}

const none: RowSource['related'] = new Map()

/** Reads the source of the rows of a collection or query. Throws a `TypeError` for an unknown name, and for SQL whose placeholders are not those of its values. */
export function readSource(list: Pick<ListQuery, 'name' | 'related'>, source: SqlSource): RowSource {
  const rows = readRows(list, source, 0)
  if (list.related === undefined) return { ...rows, related: none }
  const related = new Map<string, TableRows & { readonly relation: Relation }>()
  let { values } = rows
  for (const [relation, one] of list.related) {
    const others = readRows(one.relation.target, one.source, values.length)
    related.set(relation, { ...others, relation: one.relation })
    values = [...values, ...others.values]
  }
  return { ...rows, values, related }
}

function readRows(list: { readonly name: string }, source: SqlSource, before: number): TableRows {
  const { table, columns, where } = sourceOptions.read(source, 'source')
  const own = where?.values ?? []
  const condition = where && numberedSql('source.where.text', where.text, own, before)
  if (typeof table !== 'object') return { from: quoted(table ?? snakeCase(list.name)), columns, where: condition, values: own }
  return {
    from: numberedQuery(table.sql, table.values, before + own.length),
    columns,
    where: condition,
    values: [...own, ...(table.values ?? [])]
  }
}
