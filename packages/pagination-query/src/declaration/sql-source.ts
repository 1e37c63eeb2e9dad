import { describeOptions, type OptionsOf, value } from '@concordat/plugin-kit/options'

/**
 * The columns of fields, by field name: a column name, qualified with the table name if there are several tables, or `sql`, an expression that is used
 * unchanged to select, filter and sort. Beside it, `column` names the column that `table` of @concordat/postgres writes; lists do not use it.
 */
export type SqlColumns = Readonly<Record<string, string | { readonly sql?: string | undefined; readonly column?: string | undefined }>>

/** A statement with placeholders, and the values of its parameters. */
export interface SqlText {
  readonly text: string
  readonly values: readonly unknown[]
}

/** The description of {@link SqlSource}. */
export const sourceOptions = describeOptions('pagination-query', {
  /**
   * The table, with its schema before a dot; `sql`, the SQL after FROM; or `sql` with `values`, a query, for example of a query builder, with the
   * placeholders `$1` to `$n` for them. By default the name of the collection in snake_case.
   */
  table: value<string | { readonly sql: string; readonly values?: readonly unknown[] | undefined }>({ names: { sql: true, values: true } }),
  /** The columns of the resource's fields, by field name. By default the name of the field in snake_case. */
  columns: value<SqlColumns>({ names: { '*': { sql: true, column: true } }, default: {} }),
  /** A further condition on the rows, for example on their owner, with the placeholders `$1` to `$n` for its values. */
  where: value<SqlText>({ names: { text: true, values: true } })
})

/** The source of the rows. All of it comes from the author of the service, none of it from a client. */
export interface SqlSource extends OptionsOf<typeof sourceOptions> {}
