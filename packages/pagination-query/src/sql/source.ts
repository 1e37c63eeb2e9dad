import { describeOptions, type OptionsOf, value } from '@concordat/plugin-options'
import type { SqlColumns } from './columns.ts'

/** A statement with placeholders, and the values of its parameters. */
export interface SqlText {
  readonly text: string
  readonly values: readonly unknown[]
}

/** The description of {@link SqlSource}. */
export const sourceOptions = describeOptions('pagination-query', {
  /** The table, with its schema before a dot, or the SQL after FROM. By default the name of the collection in snake_case. */
  table: value<string | { readonly sql: string }>({ names: { sql: true } }),
  /** The columns of the resource's fields, by field name. By default the name of the field in snake_case. */
  columns: value<SqlColumns>({ names: { '*': { sql: true } }, default: {} }),
  /** A further condition on the rows, for example on their owner, with the placeholders `$1` to `$n` for its values. */
  where: value<SqlText>({ names: { text: true, values: true } })
})

/** The source of the rows. All of it comes from the author of the service, none of it from a client. */
export interface SqlSource extends OptionsOf<typeof sourceOptions> {}

/** Returns the columns. Throws a `TypeError` for an unknown name in them. */
export function readColumns(columns: SqlColumns): SqlColumns {
  return sourceOptions.read({ columns }, 'source').columns
}
