import { type OptionNames, requireKnownNames } from '@concordat/plugin-options'
import { columnNames, type SqlColumns } from './columns.ts'

/** A statement with placeholders, and the values of its parameters. */
export interface SqlText {
  readonly text: string
  readonly values: readonly unknown[]
}

/**
 * The source of the rows: a table, the columns of fields, and a further condition. All of it comes from the author of the service, none of it from
 * a client.
 */
export interface SqlSource {
  /** The table, with its schema before a dot, or the SQL after FROM. @default the collection's name in snake_case */
  readonly table?: string | { readonly sql: string } | undefined
  /** The columns of the resource's fields, by field name. @default the field's name in snake_case */
  readonly columns?: SqlColumns | undefined
  /** A further condition on the rows, for example on their owner, with the placeholders `$1` to `$n` for its values. */
  readonly where?: SqlText | undefined
}

const sourceNames: OptionNames<SqlSource> = { table: { sql: true }, columns: columnNames, where: { text: true, values: true } }

/** Throws a `TypeError` for an unknown name in a source. */
export function requireSourceNames(source: SqlSource): void {
  requireKnownNames('pagination-query', source, sourceNames, 'source')
}
