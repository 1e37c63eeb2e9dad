import { describeOptions, type OptionsOf, value } from '@concordat/plugin-kit/options'
import { quoted, type SqlColumns, snakeCase } from './columns.ts'
import { numberedQuery, numberedSql } from './numbered-sql.ts'

/** A statement with placeholders, and the values of its parameters. */
export interface SqlText {
  readonly text: string
  readonly values: readonly unknown[]
}

/** The description of {@link SqlSource}. */
const sourceOptions = describeOptions('pagination-query', {
  /**
   * The table, with its schema before a dot; `sql`, the SQL after FROM; or `sql` with `values`, a query, for example of a query builder, with the
   * placeholders `$1` to `$n` for them. By default the name of the collection in snake_case.
   */
  table: value<string | { readonly sql: string; readonly values?: readonly unknown[] | undefined }>({ names: { sql: true, values: true } }),
  /** The columns of the resource's fields, by field name. By default the name of the field in snake_case. */
  columns: value<SqlColumns>({ names: { '*': { sql: true } }, default: {} }),
  /** A further condition on the rows, for example on their owner, with the placeholders `$1` to `$n` for its values. */
  where: value<SqlText>({ names: { text: true, values: true } })
})

/** The source of the rows. All of it comes from the author of the service, none of it from a client. */
export interface SqlSource extends OptionsOf<typeof sourceOptions> {}

/** A source that has been read. */
export interface RowSource {
  /** The SQL after FROM. */
  readonly from: string
  readonly columns: SqlColumns
  readonly where: string | undefined
  /** The values of `from` and `where`, whose placeholders are the first ones of each statement. */
  readonly values: readonly unknown[]
}

/** Reads the source of the rows of a collection or query. Throws a `TypeError` for an unknown name, and for SQL whose placeholders are not those of its values. */
export function readSource(list: { readonly name: string }, source: SqlSource): RowSource {
  const { table, columns, where } = sourceOptions.read(source, 'source')
  const own = where?.values ?? []
  const condition = where && numberedSql('source.where.text', where.text, own, 0)
  if (typeof table !== 'object') return { from: quoted(table ?? snakeCase(list.name)), columns, where: condition, values: own }
  return { from: numberedQuery(table.sql, table.values, own.length), columns, where: condition, values: [...own, ...(table.values ?? [])] }
}
